/*
 * reign: a main, and what it was started with: conf, sockets, access log, user.
 *
 * When main dies it is started again in its reign.  A conf that is read again
 * begins another one, and the one before ends as soon as that serves.
 */
#ifndef REIGN_H
#define REIGN_H

#include <sys/queue.h>
#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pulse.h"

struct conf;
struct ledger;
struct listener;
struct mounts;

enum reign_state {
	REIGN_COMING,			/* its main has never served yet */
	REIGN_SERVING,
	REIGN_DRAINING
};

struct reign {
	unsigned		 number;
	struct conf		*conf;		/* owned */
	struct listener		*listeners;
	size_t			 nlisteners;
	int			 access;	/* its log, -1: none; as a
						 * handle, if it can be */
	char			*user;		/* NULL: stay who we are */
	int			 error;		/* the error log, until it
						 * serves; -1: as it is */
	uid_t			 uid;
	gid_t			 gid;
	struct mounts		*mounts;
	struct ledger		*ledger;
	int			 part;		/* of the board */
	enum reign_state	 state;
	unsigned		 generation;	/* of its present main */
	int			 control;	/* main's pipe; -1: no main */
	pid_t			 main;		/* 0: none */
	int64_t			 born;		/* ms, when main was started */
	int64_t			 due;		/* ms: main is to be started;
						 * or to be over; 0: never */
	int			 backoff;	/* ms */
	unsigned		 reading;	/* of the conf, which ends it */
	struct pulse		 pulse;		/* of its present main */
	bool			 closed;	/* it takes no new clients */
	bool			 logger_due;	/* main is to get one */
	TAILQ_ENTRY(reign)	 link;
};

TAILQ_HEAD(reigns, reign);

/* Takes the conf. */
struct reign	*reign_new(struct conf *);
void		 reign_free(struct reign **);
/* Who main and the helpers are to be, when started as root; -1 after a line
 * that says why not. */
int		 reign_choose_user(struct reign *);
/* A line for each directory that those who serve it may not enter, since all of
 * it will be refused; they may be let in later.  May wait for a disk. */
void		 reign_look_at_roots(const struct reign *);
/* No new clients from this process; others may have the sockets, too. */
void		 reign_close_doors(struct reign *);
/* In a child that has nothing to do with it. */
void		 reign_leave(struct reign *);

#endif
