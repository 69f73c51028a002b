/*
 * generation: mains, and what they were started with: conf, sockets, access
 * log, user.  Of each of them there is a worker, which outlives it.
 *
 * When main dies it is started again in its generation.  A conf that is read again
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

enum generation_state {
	GENERATION_STARTING,			/* not all of it has served yet */
	GENERATION_SERVING,
	GENERATION_DRAINING
};

/* A main, the one that there is after it, and so on. */
struct worker {
	struct generation		*generation;
	unsigned		 number;	/* in it */
	struct helper_slots		*helper_slots;
	int			 stats_slot;		/* of the scoreboard */
	unsigned		 main_id;	/* of its present main */
	int			 channel;	/* main's pipe; -1: no main */
	pid_t			 main_pid;		/* 0: none */
	int64_t			 started_at;		/* ms, when main was started */
	int64_t			 next_at;		/* ms: main is to be started;
						 * or to be over; 0: never */
	int			 backoff;	/* ms */
	struct watchdog		 watchdog;		/* of its present main */
	bool			 ready;		/* that one serves */
	bool			 closed;	/* it takes no new clients */
	bool			 logger_due;	/* main is to get one */
};

struct generation {
	unsigned		 number;
	struct conf		*conf;		/* owned */
	struct listener		*listeners;
	size_t			 nlisteners;
	int			 access_log;	/* its log, -1: none; as a
						 * handle, if it can be */
	struct user		 user;		/* whom all become */
	int			 error_log;		/* the error log, until it
						 * serves; -1: as it is */
	int			 rules;		/* which files its helpers may
						 * reach; -1: as they are */
	struct mounts		*mounts;
	struct addresses	*addresses;	/* of its clients; NULL: they
						 * have no limits */
	struct accept_token		*accept_token;		/* of its mains, or NULL */
	struct worker		*workers;
	unsigned		 nworkers;
	enum generation_state	 state;
	unsigned		 replaced_by;	/* of the conf, which ends it */
	bool			 closed;	/* it takes no new clients */
	TAILQ_ENTRY(generation)	 link;
};

TAILQ_HEAD(generations, generation);

/* Takes the conf. */
struct generation	*generation_new(struct conf *);
void		 generation_free(struct generation **);
/* Who main and the helpers are to be, when started as root; -1 after a line
 * that says why not. */
int		 generation_choose_user(struct generation *);
/* No new clients from this process; others may have the sockets, too. */
void		 generation_close_listeners(struct generation *);
/* How many of its workers have a main, or, of those, one that serves. */
unsigned	 generation_count_mains(const struct generation *);
bool		 generation_is_serving(const struct generation *);
/* In a child: our ends of the mains' pipes. */
void		 generation_close_channels(struct generation *);
/* In a child that has nothing to do with it. */
void		 generation_close(struct generation *);

#endif
