/*
 * waypoint: a record of a watched directory, or of a name in one, that lies on
 * the way to a part of a site (helpers/job_parts.h).
 *
 * On the way to a path each waypoint is the parent of the next one.  In the
 * order of age children stand before their parents.  A waypoint that leaves
 * stays until a pass over all paths has found those that hang on it.
 */
#ifndef HTTP_WATCH_WAYPOINT_H
#define HTTP_WATCH_WAYPOINT_H

#include <sys/queue.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "helpers/job.h"
#include "lib/hash.h"
#include "lib/str.h"

#define WAYPOINT_EVENTS_MAX	1024	/* remembered */
#define WAYPOINT_UNWATCHED	(-1)	/* a number: cannot be watched */
enum waypoint_state {
	WAYPOINT_ACTIVE,
	WAYPOINT_CHANGED,	/* paths that hang on it are old */
	WAYPOINT_EVICTED,	/* no such path is watched */
	WAYPOINT_DONE		/* no path hangs on it */
};

struct waypoint {
	TAILQ_ENTRY(waypoint)	 age;		/* in active or leaving */
	LIST_ENTRY(waypoint)	 by_number, by_target;
	struct waypoint		*parent;	/* not older; or NULL */
	size_t			 children;	/* active ones */
	uint64_t		 way;		/* the last that it was on */
	enum waypoint_state	 state;
	int64_t			 changed_at;	/* ms; INT64_MIN: never */
	bool			 doubtful;	/* events were lost */
	int			 number;	/* of notify.h */
	uint32_t		 name;		/* hash; DIRECTORY: 0 */
	uint32_t		 site, kind;	/* enum job_waypoint_kind */
	uint32_t		 kinds, forms;	/* of namespaces: bits */
	uint32_t		 len;
	char			 target[];	/* decoded; of a directory with
						 * its slash */
};

TAILQ_HEAD(waypoint_queue, waypoint);
LIST_HEAD(waypoint_list, waypoint);

struct waypoints {
	struct lock		*lock;		/* before that of the paths */
	struct pathname_cache	*paths;
	int			 notify;
	size_t			 max;		/* directories */
	size_t			 directories, n;
	bool			 full;		/* has been logged */
	struct hash_key		 key;
	size_t			 mask;
	struct waypoint_list	*by_number, *by_target;
	struct waypoint_queue	 active, leaving;	/* the oldest first */
	size_t			 pending;	/* lookups that watch */
	uint64_t		 ways;		/* noted so far */
	struct {				/* over all paths */
		size_t		 bucket;
		bool		 under_way;
		int64_t		 old, now;	/* clock ms */
	}			 pass;
	bool			 again;		/* any left since it began */
	bool			 changed;	/* any has, since then */
	uint64_t		 nevents;
	uint64_t		 all_changed;	/* event about any lookup */
	uint64_t		 removed;	/* event of a watch's end */
	struct {
		int		 number;
		uint32_t	 name;
	}			 events[WAYPOINT_EVENTS_MAX];
	void			(*schedule)(void *), *schedule_context;
};
/* The lists with those of a directory, or of a decoded target. */
struct waypoint_list	*waypoint_numbers(const struct waypoints *, int number);
struct waypoint_list	*waypoint_targets(const struct waypoints *,
			    uint32_t site, unsigned kind, struct str target);
struct waypoint		*waypoint_find(const struct waypoints *, uint32_t site,
			    unsigned kind, struct str target);
struct waypoint		*waypoint_find_number(const struct waypoints *, int);
/* Adds a waypoint of a job, or finds it: the parent of the next. */
struct waypoint		*waypoint_note(struct waypoints *, uint32_t site,
			    struct str target, const struct job_waypoint *,
			    struct waypoint *parent);
/* Makes it, and those before it on its way, the youngest. */
void			 waypoint_touch(struct waypoints *, struct waypoint *);
/* Has it go, after the next pass. */
void			 waypoint_leave(struct waypoints *, struct waypoint *,
			    enum waypoint_state);
void			 waypoint_schedule(struct waypoints *);	/* tidying */
/* Frees one that has left; a directory's last waypoint ends its watch. */
void			 waypoint_free(struct waypoints *, struct waypoint *);
/* Remembers an event; name 0: of the directory. */
void			 waypoint_note_event(struct waypoints *, int number,
			    uint32_t name);

static inline struct str
waypoint_target(const struct waypoint *p)
{
	return (struct str){ p->target, p->len };
}

/* Cuts a target behind its last slash. */
static inline struct str
waypoint_cut(struct str target)
{
	while (target.len > 0 && target.at[target.len - 1] != '/')
		target.len--;
	return target;
}

#endif
