/*
 * threads: threads beside the one that main begins with, each with a loop, a
 * clock and a bell by which it is told what to do.
 *
 * Members are made before main gives up what it need not have, are started when
 * it has no files any more, and say when they have done what they were told.
 * Whatever is called in the thread of a member must not touch what is main's.
 */
#ifndef LOOP_THREADS_H
#define LOOP_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/clock.h"
#include "loop/evloop.h"

struct team;

/* Mostly to all at once, each in its own thread; several may come together. */
enum team_order {
	TEAM_SERVE,
	TEAM_DRAIN,
	TEAM_VERIFY,		/* passwords that were called */
	TEAM_END,		/* the team's own: its loop stops */
	TEAM_ORDER_COUNT
};

/* What each member says of itself; to say it again changes nothing. */
enum team_mark {
	TEAM_CLOSED,		/* takes no new clients */
	TEAM_IDLE,		/* and has none */
	TEAM_MARK_COUNT
};

struct member {			/* first in a record of its owner's */
	struct team	*team;
	unsigned	 number;	/* from 1 */
	unsigned	 said;		/* a bit for each mark */
	struct clock	 clock;
	struct evloop	*loop;
};

struct team_setup {
	unsigned	 members;
	size_t		 size;		/* of a record, zeroed */
	struct evloop	*loop;		/* main's */
	/* In the thread of the member: what to do. */
	void		(*obey)(struct member *, enum team_order);
	/* In main's: all of them have said so. */
	void		(*marked)(void *context, enum team_mark);
	void		 *context;
};

struct team	*team_new(const struct team_setup *);
/* From 0. */
struct member	*team_member(const struct team *, unsigned);
/* Returns when all of them run. */
void		 team_start(struct team *);
void		 team_tell(struct team *, enum team_order);
/* One of them alone; from any thread. */
void		 team_tell_one(const struct member *, enum team_order);
void		 team_mark(struct member *, enum team_mark);
/* Ends them; then what they have had is main's.  False: one of them, or more,
 * still waits for a disk, and will use what it has when that answers. */
bool		 team_end(struct team *);
/* The same; but then they are left to themselves, and it is not to be freed. */
bool		 team_end_or_leave(struct team *);
void		 team_free(struct team **);	/* when they have ended */

#endif
