/*
 * queue: what threads hand to one thread, which takes it from its loop.
 *
 * A record brings its own place along: it stands in one queue at a time, so
 * who hands it over never waits, and nothing is ever turned away; there can be
 * no more in a queue than there are records.  From queue_put() on it is the
 * other thread's, with all that was written to it before.
 */
#ifndef ARCH_QUEUE_H
#define ARCH_QUEUE_H

#include "arch/evloop.h"

struct queue;

/* Part of a record. */
struct queued {
	struct queued	*next;
};

/* For the thread of that loop, which hands each record to take. */
struct queue	*queue_new(struct evloop *, void (*take)(void *context,
		    struct queued *), void *context);
/* When nobody uses it any more; what is left has been taken. */
void		 queue_free(struct queue **);
/* Last in it; any thread. */
void		 queue_put(struct queue *, struct queued *);
/* Takes what is left, when the loop has ended: nobody rings after that. */
void		 queue_empty(struct queue *);

#endif
