/*
 * task: CONTRACT between the request machine and the drivers of disk work: a
 * job under way, and the connections that wait for it.
 */
#ifndef TASK_H
#define TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "helpers/job.h"

/*
 * The machine makes a task and hands it to the driver's submit(), which owns
 * the task until complete(), which the driver calls once, with the result in
 * the job.  complete() and free() belong to the machine and run in the thread
 * of the loop that submitted the task; complete() puts the result into the
 * caches, and may run inside submit() where disk work is synchronous.  Then the
 * driver wakes the waiters, which look again, and calls free().
 *
 * A task whose waiters have all left may end with ECANCELED, which tells
 * nothing about the file.  A background task may end so at once, if too many
 * of them are queued.
 *
 * The machine may defer a task: connections wait for it before it is
 * submitted.  Until then `waiters` and `abandon` are the machine's.
 */
struct fs_queue;		/* disk/fs_queues.c */
struct client;			/* an architecture's record of a connection */
TAILQ_HEAD(waiters, client);

struct task {
	struct job	  job;
	void		(*complete)(struct task *);
	void		(*free)(struct task *);
	/* The driver's from submit() on, if no other owner is named: */
	struct waiters	  waiters;
	/* The last waiter has left.  NULL: the task runs on. */
	void		(*abandon)(struct task *);
	/* A background task gets its first waiter.  NULL: no difference. */
	void		(*promote)(struct task *);
	TAILQ_ENTRY(task) link;		/* in a task queue */
	struct fs_queue	 *fs_queue;	/* the queue of the job's file system */
	void		 *ctx;		/* the driver's record of the task */
	bool		  queued;	/* in a task queue */
	bool		  abandoned;	/* the last waiter has left */
	bool		  deferred;	/* the machine's: has waiters before
					 * submit() */
	bool		  background;	/* the machine's, until promote(): no
					 * connection waits for the task */
	int		  attempts;	/* helpers that have died over it */
	int64_t		  submitted_at;	/* clock ms */
};

/* The driver of disk work, to the machine. */
struct disk {
	void	(*submit)(void *context, struct task *);
	void	 *context;
};

#endif
