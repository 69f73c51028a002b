/*
 * evloop: readiness, time and signals; the only user of libevent.
 *
 * The clock is updated before each callback.  The duration of each iteration
 * is measured, because the next event may be handled that late.  A callback
 * may change or free any watch, its own too.
 */
#ifndef LOOP_EVLOOP_H
#define LOOP_EVLOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/clock.h"

struct evloop;
struct watch;

enum evloop_event {
	EVLOOP_NONE,
	EVLOOP_READ,
	EVLOOP_WRITE,
	EVLOOP_EDGE		/* READ, but with one callback each time that
				 * more input arrives */
};

/* Gives libevent a slab of its own, apart from the memory of connections.  To
 * be called before the first evloop_new(); threads: several threads have
 * loops. */
void		 evloop_pool_memory(bool threads);
struct evloop	*evloop_new(struct clock *);
/* All watches must have been freed. */
void		 evloop_free(struct evloop **);
/* Runs until evloop_stop(), which may have been called already. */
void		 evloop_run(struct evloop *);
void		 evloop_stop(struct evloop *);
/* Stops measuring iterations, for a loop whose lateness delays no client. */
void		 evloop_stop_timing(struct evloop *);

/* Sets the hook that each iteration calls at its end, before the loop waits;
 * NULL removes it.  The hook returns true if the loop must not wait.  A loop
 * has at most one hook. */
void		 evloop_on_iteration(struct evloop *, bool (*)(void *), void *);
/* False: EVLOOP_EDGE is not reliable here. */
bool		 evloop_has_edges(const struct evloop *);

/* A watch of a descriptor: calls back as long as the event set by
 * evloop_set() is there; a new watch has EVLOOP_NONE.  The caller owns the
 * descriptor, and frees the watch before closing it. */
struct watch	*evloop_watch(struct evloop *, int fd, void (*)(void *),
		    void *);
/* A watch that calls back once for each evloop_arm(). */
struct watch	*evloop_timer(struct evloop *, void (*)(void *), void *);
/* A watch that calls back for each of these signals. */
struct watch	*evloop_signal(struct evloop *, int signal, void (*)(void *),
		    void *);
/* From now on a watch without a record calls this function back. */
void		 evloop_redirect(struct watch *, void (*)(void *),
		    void *);
void		 evloop_unwatch(struct watch **);
/* A watch of a descriptor with a record of that size embedded, zeroed.  The
 * callback gets the record, and so do the functions below. */
void		*evloop_embed(struct evloop *, int fd, void (*)(void *),
		    size_t);
struct watch	*evloop_watch_of(void *record);
/* Frees the record and its watch. */
void		 evloop_unembed(void *record);
/* The loop's context; evloop_ctx() returns that of the record's loop. */
void		 evloop_set_ctx(struct evloop *, void *);
void		*evloop_ctx(void *record);
/* In a callback for EVLOOP_EDGE: the end of the input has arrived, behind what
 * is still unread. */
bool		 evloop_saw_eof(void *record);
/* Moves a record to another loop, with EVLOOP_NONE set.  To be called in the
 * thread of the old loop. */
void		 evloop_move(void *record, struct evloop *);

void		 evloop_set(struct watch *, enum evloop_event);
/* Arms a timer for this clock ms; one in the past fires at once. */
void		 evloop_arm(struct watch *, int64_t when);
/* The timer does not fire until it is armed again. */
void		 evloop_cancel(struct watch *);

#endif
