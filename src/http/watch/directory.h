/*
 * directory: directories that the kernel watches for main.
 *
 * A directory that main has heard of, by an event or by a lookup, is watched
 * until it has no waypoint, and no lookup under way can have one for it.
 */
#ifndef HTTP_WATCH_DIRECTORY_H
#define HTTP_WATCH_DIRECTORY_H

#include "http/watch/state.h"

/* A directory that the kernel watches for main. */
struct directory {
	LIST_ENTRY(directory)	 link;		/* in its bucket */
	TAILQ_ENTRY(directory)	 unknown;	/* without waypoint */
	uint64_t		 heard_at;	/* event: known since */
	struct waypoint_list	 waypoints;
	unsigned		 absences;	/* of the waypoints */
	int			 number;	/* of notify.h */
};

struct directory	*directory_find(const struct waypoints *, int number);
/* Finds it, or notes that the kernel watches it. */
struct directory	*directory_hear(struct waypoints *, int number);
/* Adds a waypoint to one; takes it out: the last one ends the watch. */
void			 directory_add(struct waypoints *, int number,
			    struct waypoint *);
void			 directory_remove(struct waypoints *,
			    struct waypoint *);
/* Ends the watch of one without waypoints. */
void			 directory_end(struct waypoints *, struct directory *);
/* Ends the watches that no waypoint will need. */
void			 directory_end_unknown(struct waypoints *);
/* The list with the waypoints of an entry; name 0: of the directory. */
struct waypoint_list	*directory_entries(const struct waypoints *,
			    int number, uint32_t name);

/* Marks, see state.h. */
static inline uint64_t *
directory_name_mark(struct waypoints *w, uint32_t name)
{
	return &w->names[name % WAYPOINT_NAMES];
}

static inline uint64_t *
directory_entry_mark(struct waypoints *w, int number)
{
	return &w->entries[(unsigned)number % WAYPOINT_NUMBERS];
}

static inline uint64_t *
directory_way_mark(struct waypoints *w, int number)
{
	return &w->ways_to[(unsigned)number % WAYPOINT_NUMBERS];
}

static inline uint64_t *
directory_end_mark(struct waypoints *w, int number)
{
	return &w->ends[(unsigned)number % WAYPOINT_NUMBERS];
}

#endif
