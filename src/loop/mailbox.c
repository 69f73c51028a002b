/*
 * mailbox: a lock-free list with many producers and one consumer.
 *
 * The list has the newest mail first; the receiver takes all of it and reverses
 * it.  While the receiver waits, the head of the list is a mark in place of
 * mail, and the thread that replaces the mark wakes the receiver.  So a busy
 * receiver is never woken.
 *
 * The wakeup only ends the receiver's wait: it is watched by edge, so where
 * edges are reliable it need not be reset.
 */
#include <stdatomic.h>

#include "lib/mem.h"
#include "lib/wakeup.h"
#include "loop/mailbox.h"

#define WAKE_LATER_MAX	4	/* mailboxes to wake at an iteration's end */

struct mailbox {
	_Atomic(struct mail *)	 newest;	/* NULL: empty; &asleep: empty,
						 * and the receiver waits */
	_Atomic(struct mail *)	 quiet;		/* mailbox_post_quiet()'s */
	struct mail		 asleep;	/* the mark */
	struct wakeup		 wakeup;
	struct watch		*watch;
	bool			 no_reset;	/* of the wakeup */
	struct mailbox		*wake_later[WAKE_LATER_MAX];
	unsigned		 nwake_later;
};

/* Returns whether the receiver must be woken. */
static bool
push_mail(struct mailbox *q, struct mail *r)
{
	struct mail	*last = atomic_load_explicit(&q->newest,
			    memory_order_relaxed);

	do {
		r->next = last == &q->asleep ? NULL : last;
	} while (!atomic_compare_exchange_weak_explicit(&q->newest, &last, r,
	    memory_order_acq_rel, memory_order_relaxed));
	return last == &q->asleep;
}

void
mailbox_post(struct mailbox *q, struct mail *r)
{
	if (push_mail(q, r))
		wakeup_set(&q->wakeup);
}

static void
wake_at_end(struct mailbox *from, struct mailbox *q)
{
	if (from->nwake_later < WAKE_LATER_MAX)
		from->wake_later[from->nwake_later++] = q;
	else
		wakeup_set(&q->wakeup);
}

void
mailbox_post_late(struct mailbox *from, struct mailbox *q, struct mail *r)
{
	if (push_mail(q, r))
		wake_at_end(from, q);
}

void
mailbox_post_quiet(struct mailbox *q, struct mail *r)
{
	r->next = atomic_load_explicit(&q->quiet, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&q->quiet, &r->next, r))
		continue;
}

void
mailbox_wake(struct mailbox *q)
{
	wakeup_set(&q->wakeup);
}

static void
deliver_list(struct mail *last)
{
	struct mail	*r, *before = NULL, *next;

	for (r = last; r != NULL; r = next) {
		next = r->next;
		r->next = before;
		before = r;
	}
	for (r = before; r != NULL; r = next) {
		next = r->next;		/* deliver() may pass it on */
		r->deliver(r);
	}
}

void
mailbox_deliver(struct mailbox *q)
{
	struct mail	*last;

	if (atomic_load(&q->quiet) != NULL)
		deliver_list(atomic_exchange(&q->quiet, NULL));
	last = atomic_exchange_explicit(&q->newest, NULL, memory_order_acq_rel);
	if (last != &q->asleep)
		deliver_list(last);
}

static void
on_wakeup(void *context)
{
	const struct mailbox	*q = context;

	if (!q->no_reset)
		wakeup_reset(&q->wakeup);
}

/* The iteration hook; true: more mail has arrived. */
static bool
end_iteration(void *context)
{
	struct mailbox	*q = context;
	struct mail	*none = NULL;

	mailbox_deliver(q);
	while (q->nwake_later > 0)
		wakeup_set(&q->wake_later[--q->nwake_later]->wakeup);
	return !atomic_compare_exchange_strong(&q->newest, &none, &q->asleep);
}

struct mailbox *
mailbox_new(struct evloop *loop)
{
	struct mailbox	*q = mem_zero(sizeof(*q));

	atomic_init(&q->newest, &q->asleep);
	wakeup_open(&q->wakeup);
	q->watch = evloop_watch(loop, q->wakeup.fd, on_wakeup, q);
	evloop_set(q->watch, EVLOOP_EDGE);
	q->no_reset = evloop_has_edges(loop) &&
	    wakeup_reset_is_optional(&q->wakeup);
	evloop_on_iteration(loop, end_iteration, q);
	return q;
}

void
mailbox_free(struct mailbox **qp)
{
	evloop_unwatch(&(*qp)->watch);
	wakeup_close(&(*qp)->wakeup);
	mem_drop(qp);
}

/* The exchange lets the flag be sent again before on_flag() runs. */
static void
deliver_flag(struct mail *mail)
{
	struct flag_msg	*n = (struct flag_msg *)mail;

	n->on_flag(n->context, atomic_exchange(&n->times, 0));
}

void
mailbox_flag_init(struct flag_msg *n, void (*on_flag)(void *, unsigned),
    void *context)
{
	n->mail.deliver = deliver_flag;
	atomic_init(&n->times, 0);
	n->on_flag = on_flag;
	n->context = context;
}

void
mailbox_flag_send(struct flag_msg *n, struct mailbox *q)
{
	if (atomic_fetch_add(&n->times, 1) == 0)
		mailbox_post(q, &n->mail);
}
