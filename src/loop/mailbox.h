/*
 * mailbox: what threads hand to one thread, which takes it from its loop.
 *
 * A record brings its own place along: it stands in one queue at a time, so
 * who hands it over never waits, and nothing is ever turned away; there can be
 * no more in a queue than there are records.  From mailbox_post() on it is the
 * other thread's, with all that was written to it before.
 */
#ifndef LOOP_MAILBOX_H
#define LOOP_MAILBOX_H

#include "loop/evloop.h"

struct mailbox;

/* Part of a record; take is what is done with it in that thread. */
struct mail {
	struct mail	*next;
	void		(*deliver)(struct mail *);
};

/* For the thread of that loop: the only one of it. */
struct mailbox	*mailbox_new(struct evloop *);
/* When nobody uses it any more; what is left has been taken. */
void		 mailbox_free(struct mailbox **);
/* Last in it; any thread. */
void		 mailbox_post(struct mailbox *, struct mail *);
/* The same, from the thread of another queue, which rings for it, if need be,
 * only when its turn ends: once for all that it has put by then. */
void		 mailbox_post_late(struct mailbox *, struct mailbox *,
		    struct mail *);
/* Into it as well, but it is taken whenever that thread wakes up next, and does
 * not wake it; who wants that after all, rings. */
void		 mailbox_post_quiet(struct mailbox *, struct mail *);
void		 mailbox_wake(struct mailbox *);
/* Takes what is left, when the loop has ended: nobody rings after that. */
void		 mailbox_deliver(struct mailbox *);

/*
 * What one thread has to tell another: always the same, however often.  It is
 * heeded once for all times that it has been sent since.
 */
struct flag_msg {
	struct mail	 mail;		/* first: casts rely on it */
	_Atomic unsigned times;
	void		(*on_flag)(void *context, unsigned times);
	void		*context;
};

void mailbox_flag_init(
    struct flag_msg *, void (*heed)(void *, unsigned), void *context);
void		 mailbox_flag_send(struct flag_msg *, struct mailbox *);	/* any thread */

#endif
