/*
 * mailbox: records that any thread hands to one thread, which handles them in
 * its event loop.
 *
 * A record embeds its own struct mail, so posting a record allocates nothing,
 * never waits and never fails.  A record is in one mailbox at a time.  From
 * mailbox_post() on the record belongs to the receiving thread, which sees all
 * that was written to it before.
 */
#ifndef LOOP_MAILBOX_H
#define LOOP_MAILBOX_H

#include "loop/evloop.h"

struct mailbox;

/* Embedded in a record.  deliver() is called in the receiving thread. */
struct mail {
	struct mail	*next;
	void		(*deliver)(struct mail *);
};

/* The mailbox of that loop's thread; a loop has at most one, and its iteration
 * hook is the mailbox's. */
struct mailbox	*mailbox_new(struct evloop *);
/* No thread may use the mailbox any more, and it must be empty. */
void		 mailbox_free(struct mailbox **);
/* Posts behind all mail that is there; any thread. */
void		 mailbox_post(struct mailbox *, struct mail *);
/* The same, from the thread that receives from the first mailbox.  The
 * receiver is woken at the end of that thread's iteration, once for all that
 * was posted until then. */
void		 mailbox_post_late(struct mailbox *from, struct mailbox *,
		    struct mail *);
/* Posts without waking the receiver, which handles the mail when it wakes for
 * another reason; any thread. */
void		 mailbox_post_quiet(struct mailbox *, struct mail *);
/* Wakes the receiver; any thread. */
void		 mailbox_wake(struct mailbox *);
/* Delivers all mail at once.  For the end of a loop: afterwards nothing wakes
 * the receiver. */
void		 mailbox_deliver(struct mailbox *);

/*
 * A message whose only content is how often it was sent.  on_flag() is called
 * in the receiving thread, once for all times since the last call.
 */
struct flag_msg {
	struct mail	 mail;		/* first: casts rely on it */
	_Atomic unsigned times;
	void		(*on_flag)(void *context, unsigned times);
	void		*context;
};

void		 mailbox_flag_init(struct flag_msg *,
		    void (*on_flag)(void *, unsigned), void *context);
void		 mailbox_flag_send(struct flag_msg *, struct mailbox *);
					/* any thread */

#endif
