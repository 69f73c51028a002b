/*
 * task: CONTRACT between the request machine and the drivers of disk work: a
 * job under way, and the connections that wait for it.
 */
#ifndef TASK_H
#define TASK_H

#include <stdbool.h>
#include <sys/queue.h>

#include "helpers/job.h"

/*
 * The machine makes a task and hands it to the driver's submit(), which owns
 * the task until complete(), which the driver calls once, with the result in
 * the job.  complete() and free() belong to the machine and run in the thread
 * of the loop that submitted the task; complete() puts the result into the
 * caches.  Then the driver wakes the waiters, which look again, and calls
 * free().
 *
 * A foreground task whose waiters have all left may end with ECANCELED, which
 * tells nothing about the file.  A background task may end so at once, if too
 * many of them are queued.
 *
 * Connections may wait for a task before it is submitted; until then `abandon`
 * is the machine's.
 */
struct client;			/* an architecture's record of a connection */
TAILQ_HEAD(waiters, client);

struct task {
	struct job	 job;
	void		(*complete)(struct task *);
	void		(*free)(struct task *);
	struct waiters	 waiters;
	bool		 background;	/* no waiter needs its result; the
					 * driver's from submit() on */
	bool		 large;		/* for the middle of a response of which
					 * much is left: others go first */
	/* The driver's, from submit() on: */
	void		(*abandon)(struct task *);	/* the last waiter of a
					 * foreground task has left; NULL: the
					 * task runs on */
	void		*record;
};

enum submitted {
	SUBMITTED_PENDING,	/* complete() will be called, or, for a CLOSE,
				 * may have been called */
	SUBMITTED_COMPLETED	/* complete() and free() have been called */
};

/* The driver of disk work, to the machine. */
struct disk {
	enum submitted	(*submit)(void *context, struct task *);
	void		 *context;
	/* A background task gets a waiter that needs its result.  NULL: that
	 * makes no difference. */
	void		(*promote)(struct task *);
	/* Whether tasks wait for a helper.  NULL: that is not known. */
	bool		(*is_busy)(void *context);
};

#endif
