/*
 * generation: mains, and what they were started with: conf, sockets, access
 * log, user.  Of each of them there is a worker, which outlives it.
 *
 * When main dies it is started again in its reign.  A conf that is read again
 * begins another one, and the one before ends as soon as that serves.
 */
#ifndef MONITOR_GENERATION_H
#define MONITOR_GENERATION_H

#include <sys/queue.h>
#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/user.h"
#include "monitor/watchdog.h"

struct addresses;
struct conf;
struct helper_slots;
struct listener;
struct mounts;

enum reign_state {
	REIGN_COMING,			/* not all of it has served yet */
	REIGN_SERVING,
	REIGN_DRAINING
};

/* A main, the one that there is after it, and so on. */
struct worker {
	struct reign		*reign;
	unsigned		 number;	/* in it */
	struct helper_slots		*helper_slots;
	int			 part;		/* of the board */
	unsigned		 generation;	/* of its present main */
	int			 control;	/* main's pipe; -1: no main */
	pid_t			 main;		/* 0: none */
	int64_t			 born;		/* ms, when main was started */
	int64_t			 due;		/* ms: main is to be started;
						 * or to be over; 0: never */
	int			 backoff;	/* ms */
	struct pulse		 pulse;		/* of its present main */
	bool			 ready;		/* that one serves */
	bool			 closed;	/* it takes no new clients */
	bool			 logger_due;	/* main is to get one */
};

struct reign {
	unsigned		 number;
	struct conf		*conf;		/* owned */
	struct listener		*listeners;
	size_t			 nlisteners;
	int			 access;	/* its log, -1: none; as a
						 * handle, if it can be */
	struct user		 user;		/* whom all become */
	int			 error;		/* the error log, until it
						 * serves; -1: as it is */
	int			 rules;		/* which files its helpers may
						 * reach; -1: as they are */
	struct mounts		*mounts;
	struct addresses	*addresses;	/* of its clients; NULL: they
						 * have no limits */
	struct turns		*turns;		/* of its mains, or NULL */
	struct worker		*workers;
	unsigned		 nworkers;
	enum reign_state	 state;
	unsigned		 reading;	/* of the conf, which ends it */
	bool			 closed;	/* it takes no new clients */
	TAILQ_ENTRY(reign)	 link;
};

TAILQ_HEAD(reigns, reign);

/* Takes the conf. */
struct reign	*reign_new(struct conf *);
void		 reign_free(struct reign **);
/* Who main and the helpers are to be, when started as root; -1 after a line
 * that says why not. */
int		 reign_choose_user(struct reign *);
/* No new clients from this process; others may have the sockets, too. */
void		 reign_close_doors(struct reign *);
/* How many of its workers have a main, or, of those, one that serves. */
unsigned	 reign_mains(const struct reign *);
bool		 reign_serves(const struct reign *);
/* In a child: our ends of the mains' pipes. */
void		 reign_leave_mains(struct reign *);
/* In a child that has nothing to do with it. */
void		 reign_leave(struct reign *);

#endif
