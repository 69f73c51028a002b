/*
 * queue: many who put, one who takes all there is.
 *
 * It is a list with the last record first, turned around by who takes.  In
 * place of a last record there may be a mark: whoever takes is asleep, and the
 * next to put rings.  So a busy thread is not rung for.
 */
#include <stdatomic.h>

#include "arch/queue.h"
#include "lib/bell.h"
#include "lib/mem.h"

struct queue {
	_Atomic(struct queued *) last;		/* NULL: none; or the mark */
	struct queued		 asleep;	/* the mark */
	struct bell		 bell;
	struct watch		*watch;
};

void
queue_put(struct queue *q, struct queued *r)
{
	struct queued	*last = atomic_load_explicit(&q->last,
			    memory_order_relaxed);

	do {
		r->next = last == &q->asleep ? NULL : last;
	} while (!atomic_compare_exchange_weak_explicit(&q->last, &last, r,
	    memory_order_acq_rel, memory_order_relaxed));
	if (last == &q->asleep)
		bell_ring(&q->bell);
}

/* All there is, in the order in which it came. */
static struct queued *
take_all(struct queue *q)
{
	struct queued	*r, *before = NULL, *next;

	r = atomic_exchange_explicit(&q->last, NULL, memory_order_acq_rel);
	if (r == &q->asleep)
		return NULL;
	for (; r != NULL; r = next) {
		next = r->next;
		r->next = before;
		before = r;
	}
	return before;
}

void
queue_empty(struct queue *q)
{
	struct queued	*r = take_all(q), *next;

	for (; r != NULL; r = next) {
		next = r->next;		/* it will be somebody else's */
		r->take(r);
	}
}

/* As long as records come, the bell is left alone: it calls again in the next
 * turn of the loop, after all others. */
static void
rung(void *context)
{
	struct queue	*q = context;
	struct queued	*none = NULL;

	queue_empty(q);
	if (atomic_load_explicit(&q->last, memory_order_relaxed) != NULL)
		return;
	bell_hush(&q->bell);
	/* Who has put something just now has not rung for it. */
	if (!atomic_compare_exchange_strong(&q->last, &none, &q->asleep))
		bell_ring(&q->bell);
}

struct queue *
queue_new(struct evloop *loop)
{
	struct queue	*q = mem_zero(sizeof(*q));

	atomic_init(&q->last, &q->asleep);
	bell_open(&q->bell);
	q->watch = evloop_watch(loop, q->bell.fd, rung, q);
	evloop_want(q->watch, EVLOOP_READ);
	return q;
}

void
queue_free(struct queue **qp)
{
	evloop_unwatch(&(*qp)->watch);
	bell_close(&(*qp)->bell);
	mem_drop(qp);
}

/* From here on it may be sent again. */
static void
take_note(struct queued *queued)
{
	struct note	*n = (struct note *)queued;

	n->heed(n->context, atomic_exchange(&n->times, 0));
}

void
note_init(struct note *n, void (*heed)(void *, unsigned), void *context)
{
	n->place.take = take_note;
	atomic_init(&n->times, 0);
	n->heed = heed;
	n->context = context;
}

void
note_send(struct note *n, struct queue *q)
{
	if (atomic_fetch_add(&n->times, 1) == 0)
		queue_put(q, &n->place);
}
