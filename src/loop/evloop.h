/*
 * evloop: readiness, time and signals.  The one door to libevent.
 *
 * Before each callback the clock is brought up to date.  The time that each
 * turn takes is measured: so late the next event may be.  A watch may be
 * changed or freed inside any callback, its own too.
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
	EVLOOP_EDGE		/* READ, but called back only once each time
				 * that more comes */
};

/* Before any loop: keeps what they allocate apart from what comes and goes with
 * clients. */
void		 evloop_pool_memory(bool threads);
struct evloop	*evloop_new(struct clock *);
void		 evloop_free(struct evloop **);	/* all watches freed */
/* Runs until evloop_stop. */
void		 evloop_run(struct evloop *);
void		 evloop_stop(struct evloop *);
/* From now on the time that its turns take is not measured: nobody waits for
 * it. */
void		 evloop_stop_timing(struct evloop *);

/* Calls this at the end of each turn, before it waits for what is watched; one
 * for each loop.  True: it is not to wait in the next one.  NULL: no more. */
void		 evloop_on_iteration(struct evloop *, bool (*)(void *), void *);
/* False: EDGE cannot be relied upon. */
bool		 evloop_has_edges(const struct evloop *);

/* Calls back as long as the descriptor is ready for what is wanted; NOTHING
 * at first.  Does not own the descriptor: free before closing it. */
struct watch	*evloop_watch(struct evloop *, int fd, void (*)(void *),
		    void *);
/* Calls back at a time (evloop_arm), once each. */
struct watch	*evloop_timer(struct evloop *, void (*)(void *), void *);
/* Calls back for each of these signals. */
struct watch	*evloop_signal(struct evloop *, int signal, void (*)(void *),
		    void *);
void		 evloop_unwatch(struct watch **);
/* Such a watch with so many bytes of its owner's in it, zeroed, which are what
 * is called back with.  Its host is the watch. */
void		*evloop_embed(struct evloop *, int fd, void (*)(void *),
		    size_t);
struct watch	*evloop_watch_of(void *guest);
void		 evloop_unembed(void *guest);	/* frees both */
/* Whatever belongs to the loop that a guest is in. */
void		 evloop_set_ctx(struct evloop *, void *);
void		*evloop_ctx(void *guest);
/* Called back for EDGE: there will be nothing more behind what there is. */
bool		 evloop_saw_eof(void *guest);
/* To another loop, where NOTHING is wanted at first, as here by now. */
void		 evloop_move(void *guest, struct evloop *);

void		 evloop_set(struct watch *, enum evloop_event);
/* At this clock ms, or at once if that has passed. */
void		 evloop_arm(struct watch *, int64_t when);
void		 evloop_cancel(struct watch *);		/* until then */

#endif
