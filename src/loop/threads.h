/*
 * threads: threads beside the one that main begins with, each with a loop, a
 * clock and a wakeup by which it is told what to do.
 *
 * Members are made before main gives up what it need not have, are started when
 * it has no files any more, and say when they have done what they were told.
 * Whatever is called in the thread of a member must not touch what is main's.
 */
#ifndef LOOP_THREADS_H
#define LOOP_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/clock.h"
#include "loop/evloop.h"

struct threads;

/* Mostly to all at once, each in its own thread; several may come together. */
enum threads_command {
	THREADS_SERVE,
	THREADS_DRAIN,
	THREADS_VERIFY,		/* passwords that were called */
	THREADS_END,		/* the team's own: its loop stops */
	THREADS_COMMAND_COUNT
};

/* What each member says of itself; to say it again changes nothing. */
enum threads_ack {
	THREADS_CLOSED,		/* takes no new clients */
	THREADS_IDLE,		/* and has none */
	THREADS_ACK_COUNT
};

struct loop_thread {			/* first in a record of its owner's */
	struct threads	*threads;
	unsigned	 number;	/* from 1 */
	unsigned	 acked;		/* a bit for each mark */
	struct clock	 clock;
	struct evloop	*loop;
};

struct threads_setup {
	unsigned	 count;
	size_t		 size;		/* of a record, zeroed */
	struct evloop	*loop;		/* main's */
	/* In the thread of the member: what to do. */
	void (*on_command)(struct loop_thread *, enum threads_command);
	/* In main's: all of them have said so. */
	void		(*on_ack)(void *context, enum threads_ack);
	void		 *context;
};

struct threads	*threads_new(const struct threads_setup *);
/* From 0. */
struct loop_thread	*threads_get(const struct threads *, unsigned);
/* Returns when all of them run. */
void		 threads_start(struct threads *);
void		 threads_send(struct threads *, enum threads_command);
/* One of them alone; from any thread. */
void threads_send_one(const struct loop_thread *, enum threads_command);
void		 threads_ack(struct loop_thread *, enum threads_ack);
/* Ends them; then what they have had is main's.  False: one of them, or more,
 * still waits for a disk, and will use what it has when that answers. */
bool		 threads_end(struct threads *);
/* The same; but then they are left to themselves, and it is not to be freed. */
bool		 threads_end_or_detach(struct threads *);
void		 threads_free(struct threads **);	/* when they have ended */

#endif
