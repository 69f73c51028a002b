/*
 * disk_thread: a thread that does the jobs of tasks, one after the other,
 * while those who have sent it go on.
 *
 * What waits is bounded, but for pieces of responses that have begun.  A job
 * that does not come back holds the disk thread, and whoever waits behind it gives
 * up when its time is over: nobody can kill a thread.
 */
#ifndef DISK_DISK_THREAD_H
#define DISK_DISK_THREAD_H

#include <stddef.h>

#include "loop/evloop.h"
#include "loop/mailbox.h"
#include "task.h"

struct disk_thread;

/* In the thread of that loop, by its queue; so many tasks may wait. */
struct disk_thread *disk_thread_new(
    struct evloop *, struct mailbox *, size_t max);
/* The thread has ended: what still waits fails, and whatever else is sent. */
void		 disk_thread_end(struct disk_thread *);
void		 disk_thread_free(struct disk_thread **);		/* after that */

/* Any thread.  The task comes back through that queue, the sender's own. */
void disk_thread_submit(struct disk_thread *, struct task *, struct mailbox *);
/* How many wait, and have ever waited at once; any thread. */
size_t disk_thread_waiting(const struct disk_thread *, size_t *waiting_max);

#endif
