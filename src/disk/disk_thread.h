/*
 * disk_thread: a thread that does the jobs of tasks, one after the other, for
 * the loops of other threads.
 *
 * The number of waiting tasks is limited, except for reads of responses that
 * have begun.  A job that does not return stops the thread, since a thread
 * cannot be killed; the connections behind that job time out.
 */
#ifndef DISK_DISK_THREAD_H
#define DISK_DISK_THREAD_H

#include <stddef.h>

#include "loop/evloop.h"
#include "loop/mailbox.h"
#include "task.h"

struct disk_thread;

/* Makes a disk thread that runs in the thread of that loop, woken by the loop's
 * mailbox; at most max tasks of each class wait. */
struct disk_thread *disk_thread_new(struct evloop *, struct mailbox *,
		    size_t max);
/* Fails all tasks that wait, and all that are submitted later.  To be called
 * when the thread has ended. */
void		 disk_thread_end(struct disk_thread *);
/* To be called after disk_thread_end(). */
void		 disk_thread_free(struct disk_thread **);

/* Takes a task, from any thread; the task is completed in the thread of the
 * mailbox reply_to, which is the caller's. */
enum submitted	 disk_thread_submit(struct disk_thread *, struct task *,
		    struct mailbox *reply_to);
/* Returns how many tasks wait, and sets how many ever waited at once.  Any
 * thread. */
size_t		 disk_thread_waiting(const struct disk_thread *,
		    size_t *waiting_max);

#endif
