/*
 * events: the monitor's loop over descriptors, times and signals.
 *
 * The loop is on poll(2): the kernel knows nothing of it between two calls, so
 * a forked child cannot disturb it.  An object is part of its owner's struct; a
 * zeroed timer is not set.
 */
#ifndef MONITOR_EVENTS_H
#define MONITOR_EVENTS_H

#include <sys/queue.h>

#include <stdbool.h>
#include <stdint.h>

/* Events to wait for at a source. */
enum events_wait {
	EVENTS_NOTHING,
	EVENTS_END,		/* the other side has closed */
	EVENTS_INPUT
};

/* A descriptor, with the function that is called when it is readable. */
struct source {
	int			 fd;		/* -1: none */
	enum events_wait	 wait;
	void			(*on_readable)(void *);
	void			*context;
	TAILQ_ENTRY(source)	 link;
};

/* A function that is called once, when its time has come. */
struct timer {
	int64_t			 at;		/* ms; 0: not set */
	void			(*on_time)(void *);
	void			*context;
	TAILQ_ENTRY(timer)	 link;
};

/* Adds a source, for input. */
void	events_add(struct source *, int fd, void (*on_readable)(void *),
	    void *context);
/* Removes a source that may be closed already, and closes its descriptor. */
void	events_close(struct source *);
/* Removes a source, and returns its descriptor, or -1. */
int	events_release(struct source *);

/* Sets a timer, in so many ms from now, or anew. */
void	events_set(struct timer *, int64_t ms, void (*on_time)(void *),
	    void *context);
void	events_unset(struct timer *);

/* Catches signals, and lets those through that were blocked. */
void	events_catch_signals(void (*)(int signo));

/* Waits for the next event, and handles one descriptor and all timers that are
 * due. */
void	events_run_once(void);
/* Waits until a signal comes, which is lost, or so many ms. */
void	events_sleep(int64_t ms);
/* In a child: closes and forgets all. */
void	events_leave(void);

#endif
