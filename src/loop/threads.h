/*
 * threads: threads beside main's first one, each with an event loop, a clock
 * and an inbox for commands.
 *
 * Threads are set up before main gives up its privileges, started when main
 * can open no files any more, and acknowledge what they have done.  A function
 * that runs in one of these threads must not touch what is main's.
 */
#ifndef LOOP_THREADS_H
#define LOOP_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/clock.h"
#include "loop/evloop.h"

struct threads;

/* Several commands may arrive together; each thread runs them in this order. */
enum threads_command {
	THREADS_SERVE,
	THREADS_DRAIN,
	THREADS_VERIFY,		/* start the password checks that are due */
	THREADS_END,		/* threads.c's own: the loop stops */
	THREADS_COMMAND_COUNT
};

/* A thread's acknowledgements; a second one of a kind changes nothing. */
enum threads_ack {
	THREADS_CLOSED,		/* accepts no connections any more */
	THREADS_IDLE,		/* has no connections any more */
	THREADS_ACK_COUNT
};

struct loop_thread {		/* first in a record of its owner's */
	struct threads	*threads;
	unsigned	 number;	/* from 1 */
	unsigned	 acked;		/* a bit for each enum threads_ack */
	struct clock	 clock;
	struct evloop	*loop;
};

struct threads_setup {
	unsigned	 count;
	unsigned	 at_once;	/* of these, the first ones, which
					 * threads_start() starts, and which
					 * acknowledge */
	size_t		 size;		/* of a record, made of zeroes */
	struct evloop	*loop;		/* main's */
	/* Called in the thread that the command was sent to. */
	void		(*on_command)(struct loop_thread *,
			    enum threads_command);
	/* Called in a thread of threads_spawn(): before its loop runs, and
	 * after that; then it uses its record no longer.  Or NULL. */
	void		(*on_spawned)(struct loop_thread *);
	void		(*on_ended)(struct loop_thread *);
	/* Called in main's first thread when all threads have acknowledged. */
	void		(*on_ack)(void *context, enum threads_ack);
	void		 *context;
};

struct threads	*threads_new(const struct threads_setup *);
/* The record of a thread; from 0. */
struct loop_thread *threads_get(const struct threads *, unsigned);
/* Returns when all threads run; ends main if one cannot be started. */
void		 threads_start(struct threads *);
/* Starts one of the others; false with errno.  To be called in a thread of
 * threads_start(), whose signals are blocked: the new thread inherits that.  It
 * runs until its loop is stopped, and may be started again when on_ended() was
 * called. */
bool		 threads_spawn(struct loop_thread *);
/* Whether threads_end() was called: a thread that has ended since then would
 * not end if it was started again.  Any thread may ask. */
bool		 threads_are_ending(const struct loop_thread *);
/* A thread that does not run gets a command when it has been started. */
void		 threads_send(struct threads *, enum threads_command);
/* Sends to one thread; any thread may. */
void		 threads_send_one(const struct loop_thread *,
		    enum threads_command);
/* To be called in the thread itself. */
void		 threads_ack(struct loop_thread *, enum threads_ack);
/* Ends all threads, and waits for them up to a second; afterwards their
 * records are main's.  False: a thread still waits for a disk, and will use
 * its record when the disk answers. */
bool		 threads_end(struct threads *);
/* As threads_end(); where that fails the threads are detached, and must not be
 * freed. */
bool		 threads_end_or_detach(struct threads *);
/* After threads_end(). */
void		 threads_free(struct threads **);

#endif
