/*
 * generation: a conf with its sockets, access log, user, and mains.
 *
 * A main that dies is started again within its generation.  A reload starts
 * another generation; the one before drains as soon as the new one serves.
 */
#ifndef MONITOR_GENERATION_H
#define MONITOR_GENERATION_H

#include <sys/queue.h>
#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/user.h"
#include "monitor/events.h"
#include "monitor/hot_lists.h"
#include "monitor/watchdog.h"

struct accept_token;
struct addresses;
struct buf;
struct chain_stats;
struct child;
struct conf;
struct helper_slots;
struct listener;
struct mounts;
struct program_manager;
struct program_stats;

enum generation_state {
	GENERATION_STARTING,		/* not all of its mains have served */
	GENERATION_SERVING,
	GENERATION_DRAINING,		/* another one serves */
	GENERATION_ENDING,		/* the server ends */
	GENERATION_GONE			/* freed */
};

/* A place for a main: if it is wanted, another is started when it dies. */
struct worker {
	struct generation	*generation;
	unsigned		 number;	/* within the generation */
	struct helper_slots	*helper_slots;	/* owned */
	int			 stats_slot;	/* of the scoreboard */
	unsigned		 main_id;	/* another for each main */
	struct source		 channel;	/* to main */
	struct child		*main;		/* NULL: no main */
	int64_t			 started_at;	/* ms: start of the main */
	uint64_t		 loop_time;	/* us: scaling.c's, as read */
	struct timer		 timer;		/* without a main, starts one;
						 * with a main, gives it up */
	int			 backoff;	/* ms */
	struct watchdog		 watchdog;	/* of the present main */
	bool			 wanted, joins;	/* a main; the first starts */
	bool			 ready;		/* the main serves */
	bool			 closed, logger_due;	/* main accepts no more;
						 * it waits for a logger */
	struct hot_list		 hot_list;	/* of the present main */
};

struct generation {
	unsigned		 number;
	struct conf		*conf;		/* owned */
	struct listener		*listeners;	/* owned; NULL: closed */
	size_t			 nlisteners;
	int			*access_logs;	/* by target; a handle if the
						 * log is a file; -1: no log */
	size_t			 naccess_logs;
	struct user		 user;		/* of main and its helpers */
	int			 error_log;	/* its own, until it serves; -1:
						 * no other than before */
	int			 rules;		/* of helpers; -1: none */
	struct mounts		*mounts;
	struct addresses	*addresses;	/* NULL: no limits */
	struct addresses	**limiters;	/* of conf->limiters */
	struct accept_token	*accept_token;	/* NULL: not in use */
	struct program_manager	**managers;	/* owned, with NULLs */
	int			*manager_sockets;	/* owned; -1: none */
	struct program_stats	*program_stats;	/* owned; NULL: no programs */
	struct chain_stats	*chain_stats;	/* owned; NULL: no chains */
	struct worker		*workers;	/* owned */
	unsigned		 nworkers, nwanted;	/* all; is to serve */
	enum generation_state	 state;
	unsigned		 replaced_by;	/* number of a reload */
	bool			 closed;	/* mains accept no more */
	TAILQ_ENTRY(generation)	 link;
};

/* All generations, the one that serves, and the number of the last reload. */
struct generations {
	TAILQ_HEAD(, generation) list;
	struct generation	*serving;
	unsigned		 reloads;	/* begun so far */
};

extern struct generations generations;

/* Reads the conf file for a reload or a question.  Returns NULL, and errors. */
struct conf	*generation_read_conf(struct buf *errors);
/* Takes the conf.  Has workers, and no mains yet. */
struct generation *generation_new(struct conf *);
void		 generation_free(struct generation **);
/* Looks up the conf's user, if started as root.  Returns 0, or -1 after a line
 * in the log. */
int		 generation_choose_user(struct generation *);
/* Closes this process's listening sockets; other processes may share them. */
void		 generation_close_listeners(struct generation *);
/* Closes this process's sockets to program managers; mains have their own. */
void		 generation_close_managers(struct generation *);
/* Closes this process's access logs. */
void		 generation_close_logs(struct generation *);
/* Tells the supervisor what is served, behind these words. */
void		 generation_notify(const char *words);
/* In a child that does not need the generation: closes all its descriptors. */
void		 generation_close(struct generation *);

#endif
