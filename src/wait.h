/*
 * wait: CONTRACT between the request machine and the architectures.
 *
 * A step of the machine runs until it must wait, says for what, and returns;
 * it never blocks and never knows who satisfies the wait.  An architecture
 * knows nothing of a connection but its wait: it satisfies that one, tells
 * the outcome, and runs the machine on.
 */
#ifndef WAIT_H
#define WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "helpers/job.h"

/* What a connection waits for. */
#define WAIT_KINDS(X)							\
	X(READ,		"net read")	/* its descriptor has input */	\
	X(WRITE,	"net write")	/* its descriptor takes output */ \
	X(DISK,		"disk")		/* its errand is done */	\
	X(CHILD,	"child")	/* a program's descriptor is ready */ \
	X(TIME,		"time")		/* its deadline, nothing else */

enum wait_kind {
#define X(id, name) WAIT_##id,
	WAIT_KINDS(X)
#undef X
	WAIT_KIND_COUNT
};

/*
 * For how long.  Within one patience deadlines are handed out in order (but
 * for a few that come late), so that an architecture can keep them in plain
 * lists.  A wait that has two deadlines asks for the first of them.
 */
#define PATIENCES(X)							\
	X(IDLE,		"idle")		/* for the next request */	\
	X(PARTING,	"parting")	/* for a last one, when draining */ \
	X(GAP,		"gap")		/* for the next byte of the two: */ \
	X(HEAD,		"head")		/* for the rest of a head */	\
	X(BODY,		"body")		/* for the rest of a body */	\
	X(SEND,		"send")		/* for the client to take output */ \
	X(PACE,		"pace")		/* for leave to send more */	\
	X(DISK,		"disk")		/* for an errand */		\
	X(LINGER,	"linger")	/* for the client to close */

enum patience {
#define X(id, name) PATIENCE_##id,
	PATIENCES(X)
#undef X
	PATIENCE_COUNT
};

/* What happened.  A wait for time that has timed out has got what it wanted:
 * to its step that is READY. */
#define OUTCOMES(X)							\
	X(READY,	"ready")					\
	X(TIMED_OUT,	"timed out")					\
	X(FAILED,	"failed")					\
	X(CANCELLED,	"cancelled")

enum outcome {
#define X(id, name) OUTCOME_##id,
	OUTCOMES(X)
#undef X
	OUTCOME_COUNT
};

struct errand;

struct wait {
	enum wait_kind	 kind;
	enum patience	 patience;
	int		 fd;		/* READ, WRITE, CHILD */
	struct errand	*errand;	/* DISK */
	int64_t		 deadline;	/* clock ms */
};

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
