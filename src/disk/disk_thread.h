/*
 * disk_thread: a thread that does the jobs of tasks, one after the other,
 * while those who have sent it go on.
 *
 * What waits is bounded, but for pieces of responses that have begun.  A job
 * that does not come back holds the porter, and whoever waits behind it gives
 * up when its time is over: nobody can kill a thread.
 */
#ifndef DISK_DISK_THREAD_H
#define DISK_DISK_THREAD_H

#include <stddef.h>

#include "loop/evloop.h"
#include "loop/mailbox.h"
#include "task.h"

struct porter;

/* In the thread of that loop, by its queue; so many tasks may wait. */
struct porter	*porter_new(struct evloop *, struct queue *, size_t most);
/* The thread has ended: what still waits fails, and whatever else is sent. */
void		 porter_end(struct porter *);
void		 porter_free(struct porter **);		/* after that */

/* Any thread.  The task comes back through that queue, the sender's own. */
void		 porter_send(struct porter *, struct task *, struct queue *);
/* How many wait, and have ever waited at once; any thread. */
size_t		 porter_waiting(const struct porter *, size_t *longest);

#endif
