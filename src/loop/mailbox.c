/*
 * mailbox: many who put, one who takes all there is.
 *
 * It is a list with the last record first, turned around by who takes.  In
 * place of a last record there may be a mark: whoever takes is asleep, and the
 * next to put rings.  So a busy thread is not rung for.
 *
 * The bell only ends a wait: it is watched by edge, and nobody reads it.
 */
#include <stdatomic.h>

#include "lib/mem.h"
#include "lib/wakeup.h"
#include "loop/mailbox.h"

#define LATE	4		/* that are rung for at the end of a turn */

struct queue {
	_Atomic(struct queued *) last;		/* NULL: none; or the mark */
	_Atomic(struct queued *) left;		/* the last of these */
	struct queued		 asleep;	/* the mark */
	struct bell		 bell;
	struct watch		*watch;
	bool			 silent;	/* the bell need not be read */
	struct queue		*late[LATE];
	unsigned		 nlate;
};

/* Whether it is to be rung for. */
static bool
add(struct queue *q, struct queued *r)
{
	struct queued	*last = atomic_load_explicit(&q->last,
			    memory_order_relaxed);

	do {
		r->next = last == &q->asleep ? NULL : last;
	} while (!atomic_compare_exchange_weak_explicit(&q->last, &last, r,
	    memory_order_acq_rel, memory_order_relaxed));
	return last == &q->asleep;
}

void
queue_put(struct queue *q, struct queued *r)
{
	if (add(q, r))
		bell_ring(&q->bell);
}

static void
ring_late(struct queue *from, struct queue *q)
{
	if (from->nlate < LATE)
		from->late[from->nlate++] = q;
	else
		bell_ring(&q->bell);
}

void
queue_put_late(struct queue *from, struct queue *q, struct queued *r)
{
	if (add(q, r))
		ring_late(from, q);
}

void
queue_leave(struct queue *q, struct queued *r)
{
	r->next = atomic_load_explicit(&q->left, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&q->left, &r->next, r))
		continue;
}

void
queue_ring(struct queue *q)
{
	bell_ring(&q->bell);
}

static void
take(struct queued *last)
{
	struct queued	*r, *before = NULL, *next;

	for (r = last; r != NULL; r = next) {
		next = r->next;
		r->next = before;
		before = r;
	}
	for (r = before; r != NULL; r = next) {
		next = r->next;		/* it will be somebody else's */
		r->take(r);
	}
}

void
queue_empty(struct queue *q)
{
	struct queued	*last;

	if (atomic_load(&q->left) != NULL)
		take(atomic_exchange(&q->left, NULL));
	last = atomic_exchange_explicit(&q->last, NULL, memory_order_acq_rel);
	if (last != &q->asleep)
		take(last);
}

static void
rung(void *context)
{
	const struct queue	*q = context;

	if (!q->silent)
		bell_hush(&q->bell);
}

/* The end of a turn. */
static bool
has_more(void *context)
{
	struct queue	*q = context;
	struct queued	*none = NULL;

	queue_empty(q);
	while (q->nlate > 0)
		bell_ring(&q->late[--q->nlate]->bell);
	return !atomic_compare_exchange_strong(&q->last, &none, &q->asleep);
}

struct queue *
queue_new(struct evloop *loop)
{
	struct queue	*q = mem_zero(sizeof(*q));

	atomic_init(&q->last, &q->asleep);
	bell_open(&q->bell);
	q->watch = evloop_watch(loop, q->bell.fd, rung, q);
	evloop_set(q->watch, EVLOOP_EDGE);
	q->silent = evloop_has_edges(loop) && bell_is_silent(&q->bell);
	evloop_on_iteration(loop, has_more, q);
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
