/*
 * state: what is known of watched directories, for the files of this folder.
 *
 * A waypoint is a watched directory, or a name in one, that lies on the way to
 * a part of a site (helpers/job_parts.h).
 */
#ifndef HTTP_WATCH_STATE_H
#define HTTP_WATCH_STATE_H

#include <sys/queue.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/hash.h"
#include "lib/str.h"

#define WAYPOINT_NAMES		16384	/* marks */
#define WAYPOINT_NUMBERS	1024
#define WAYPOINT_UNWATCHED	(-1)	/* a number: cannot be watched */

LIST_HEAD(waypoint_list, waypoint);
TAILQ_HEAD(waypoint_queue, waypoint);
LIST_HEAD(directory_list, directory);
TAILQ_HEAD(directory_queue, directory);
TAILQ_HEAD(watching_queue, watching);

enum waypoint_state {
	WAYPOINT_ACTIVE,
	WAYPOINT_CHANGED,	/* paths that hang on it are old */
	WAYPOINT_EVICTED,	/* no such path is watched */
	WAYPOINT_DONE		/* no path hangs on it */
};

struct waypoint {
	TAILQ_ENTRY(waypoint)	 age;		/* in active or leaving */
	LIST_ENTRY(waypoint)	 in_directory, by_entry, by_target;
	LIST_ENTRY(waypoint)	 siblings;
	struct directory	*directory;	/* NULL: UNWATCHED */
	struct waypoint		*parent;	/* not older; or NULL */
	struct waypoint_list	 children;	/* active ones */
	uint64_t		 way;		/* the last that it was on */
	uint64_t		 since;		/* event; watched after it */
	int64_t			 changed_at;	/* ms; INT64_MIN: never */
	uint64_t		 left_in;	/* number of the pass */
	enum waypoint_state	 state;
	bool			 doubtful;	/* events were lost */
	bool			 used;		/* paths beneath are in use */
	bool			 absent;	/* the way ended there */
	uint32_t		 name;		/* hash; DIRECTORY: 0 */
	const void		*root;		/* rules; see waypoint_root() */
	uint32_t		 site, kind;	/* enum job_waypoint_kind */
	uint32_t		 kinds, forms;	/* of namespaces: bits */
	uint32_t		 len;
	char			 target[];	/* decoded; of a directory with
						 * its slash */
};

/* A lookup that is under way. */
struct watching {
	TAILQ_ENTRY(watching)	 link;		/* in the order of since */
	uint64_t		 since;		/* the last event before it */
	int			 number;	/* of its directory */
};

struct waypoints {
	struct lock		*lock;		/* before that of the paths */
	struct pathname_cache	*paths;
	int			 notify;
	size_t			 max;		/* directories */
	size_t			 directories, n;
	size_t			 bytes;		/* of waypoints */
	bool			 full;		/* has been logged */
	struct hash_key		 key;
	size_t			 mask;
	struct directory_list	*by_number;
	struct waypoint_list	*by_entry, *by_target;
	struct waypoint_queue	 active, leaving;	/* the oldest first */
	struct directory_queue	 unknown;	/* without waypoints */
	struct watching_queue	 lookups;
	uint64_t		 ways;		/* noted so far */
	struct {				/* over all paths; passes.c */
		enum {
			PASS_NONE,
			PASS_AGE,	/* makes old what hangs on changes */
			PASS_MARK	/* marks directories in use */
		}		 kind;
		uint64_t	 number;	/* of those that age */
		size_t		 bucket;
		int64_t		 old, now;	/* clock ms */
	}			 pass;
	bool			 again;		/* any left since it began */
	bool			 changed;	/* any has, since then */
	bool			 evict;		/* the limit is met */
	int64_t			 evicted_at;	/* clock ms */
	struct {				/* the last change */
		uint64_t	 event;
		int64_t		 at;		/* clock ms, exact */
	}			 change;
	uint64_t		 nevents;	/* so far */
	uint64_t		 lost;		/* event: others were lost */
	uint64_t		 hidden;	/* event about names that only a
						 * lookup's reply tells */
	/* Marks, some of which are shared: the last event about a name, about
	 * an entry of a directory, about the way to a directory, and the one
	 * after which the directory of a number is watched no more. */
	uint64_t		 names[WAYPOINT_NAMES];
	uint64_t		 entries[WAYPOINT_NUMBERS];
	uint64_t		 ways_to[WAYPOINT_NUMBERS];
	uint64_t		 ends[WAYPOINT_NUMBERS];
	void			(*schedule)(void *), *schedule_context;
};

#endif
