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
 * An errand is a job under way, and who waits for it.  The machine makes one
 * and hands it to the architecture's start function; from then on it is the
 * architecture's, until it calls done(), once, with the answer in the job.
 * done() belongs to the machine: it puts the answer into the caches, in the
 * thread of the loop that the errand is of, as free() is.  After that the
 * architecture wakes the waiters (they look again) and frees the errand with
 * its free().  done() may run inside start (in place).
 * An errand that waiters have waited for, and none does any more, may end with
 * ECANCELED: then nothing has been learnt.  So may one at leisure, at once, if
 * too many of those wait.
 * The machine may hold one back before it is started, and have it waited for:
 * its waiters are kept then, and so long deserted is the machine's.
 */
struct lane;			/* a file system, to the crew */
struct client;			/* an architecture's record of a connection */
TAILQ_HEAD(waiters, client);

struct errand {
	struct job	  job;
	void		(*done)(struct errand *);
	void		(*free)(struct errand *);
	struct waiters	  waiters;	/* the architecture's from here on */
	/* The last waiter has given up; NULL: that makes no difference. */
	void		(*deserted)(struct errand *);
	/* One at leisure gets its first waiter; NULL: the same. */
	void		(*hurry)(struct errand *);
	TAILQ_ENTRY(errand) link;	/* in a backlog */
	struct lane	 *lane;
	void		 *way;		/* that it goes */
	bool		  queued, unwanted;
	bool		  held;		/* back: it has waiters already */
	bool		  leisure;	/* nobody waits for it: the machine's,
					 * until there is hurry */
	int		  tries;
	int64_t		  begun;	/* clock ms */
};

/* How the machine hands out an errand. */
struct disk {
	void	(*start)(void *context, struct errand *);
	void	 *context;
};

#endif
