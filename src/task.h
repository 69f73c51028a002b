/*
 * task: CONTRACT between the request machine and those who do disk work: a
 * job under way, and the connections that wait for it.
 */
#ifndef TASK_H
#define TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "helpers/job.h"

/*
 * A task is a job under way, and who waits for it.  The machine makes one
 * and hands it to the architecture's start function; from then on it is the
 * architecture's, until it calls done(), once, with the answer in the job.
 * done() belongs to the machine: it puts the answer into the caches, in the
 * thread of the loop that the task is of, as free() is.  After that the
 * architecture wakes the waiters (they look again) and frees the task with
 * its free().  done() may run inside start (in place).
 * A task that waiters have waited for, and none does any more, may end with
 * ECANCELED: then nothing has been learnt.  So may one at leisure, at once, if
 * too many of those wait.
 * The machine may hold one back before it is started, and have it waited for:
 * its waiters are kept then, and so long deserted is the machine's.
 */
struct fs_queue;			/* a file system, to the pool */
struct client;			/* an architecture's record of a connection */
TAILQ_HEAD(waiters, client);

struct task {
	struct job	  job;
	void		(*complete)(struct task *);
	void		(*free)(struct task *);
	struct waiters	  waiters;	/* the architecture's from here on */
	/* The last waiter has given up; NULL: that makes no difference. */
	void		(*abandon)(struct task *);
	/* One at leisure gets its first waiter; NULL: the same. */
	void		(*promote)(struct task *);
	TAILQ_ENTRY(task) link;	/* in a backlog */
	struct fs_queue	 *fs_queue;
	void		 *ctx;		/* that it goes */
	bool		  queued, abandoned;
	bool		  deferred;		/* back: it has waiters already */
	bool		  background;	/* nobody waits for it: the machine's,
					 * until there is hurry */
	int		  attempts;
	int64_t		  submitted_at;	/* clock ms */
};

/* How the machine hands out a task. */
struct disk {
	void	(*submit)(void *context, struct task *);
	void	 *context;
};

#endif
