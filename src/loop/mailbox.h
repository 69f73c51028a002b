/*
 * mailbox: what threads hand to one thread, which takes it from its loop.
 *
 * A record brings its own place along: it stands in one queue at a time, so
 * who hands it over never waits, and nothing is ever turned away; there can be
 * no more in a queue than there are records.  From queue_put() on it is the
 * other thread's, with all that was written to it before.
 */
#ifndef LOOP_MAILBOX_H
#define LOOP_MAILBOX_H

#include "loop/evloop.h"

struct queue;

/* Part of a record; take is what is done with it in that thread. */
struct queued {
	struct queued	*next;
	void		(*take)(struct queued *);
};

/* For the thread of that loop: the only one of it. */
struct queue	*queue_new(struct evloop *);
/* When nobody uses it any more; what is left has been taken. */
void		 queue_free(struct queue **);
/* Last in it; any thread. */
void		 queue_put(struct queue *, struct queued *);
/* The same, from the thread of another queue, which rings for it, if need be,
 * only when its turn ends: once for all that it has put by then. */
void		 queue_put_late(struct queue *, struct queue *,
		    struct queued *);
/* Into it as well, but it is taken whenever that thread wakes up next, and does
 * not wake it; who wants that after all, rings. */
void		 queue_leave(struct queue *, struct queued *);
void		 queue_ring(struct queue *);
/* Takes what is left, when the loop has ended: nobody rings after that. */
void		 queue_empty(struct queue *);

/*
 * What one thread has to tell another: always the same, however often.  It is
 * heeded once for all times that it has been sent since.
 */
struct note {
	struct queued	 place;		/* first: casts rely on it */
	_Atomic unsigned times;
	void		(*heed)(void *context, unsigned times);
	void		*context;
};

void		 note_init(struct note *, void (*heed)(void *, unsigned),
		    void *context);
void		 note_send(struct note *, struct queue *);	/* any thread */

#endif
