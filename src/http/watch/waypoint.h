/*
 * waypoint: records of what lies on the way to paths.
 *
 * On the way to a path each waypoint is the parent of the next one.  In the
 * order of age children stand before their parents.  A waypoint that leaves
 * stays until a pass over all paths has found those that hang on it.
 */
#ifndef HTTP_WATCH_WAYPOINT_H
#define HTTP_WATCH_WAYPOINT_H

#include "helpers/job.h"
#include "http/watch/state.h"

struct path;

/* The rules, of one site, or the program that name a path's root: equal targets
 * may lie in several roots. */
const void		*waypoint_root(const struct path *);
/* The list with those of a decoded target. */
struct waypoint_list	*waypoint_targets(const struct waypoints *,
			    const void *root, unsigned kind, struct str target);
/* The list with those of a directory's entry; name 0: of the directory. */
struct waypoint_list	*waypoint_entries(const struct waypoints *, int number,
			    uint32_t name);
struct waypoint		*waypoint_find(const struct waypoints *,
			    const void *root, unsigned kind,
			    struct str target);
/* Adds a waypoint of a job, or finds it: the parent of the next. */
struct waypoint		*waypoint_note(struct waypoints *,
			    const struct path *, struct str target,
			    const struct job_waypoint *,
			    struct waypoint *parent, bool absent);
/* Makes a waypoint, and those before it on its way, the youngest. */
void			 waypoint_touch(struct waypoints *, struct waypoint *);
/* Makes old the paths that hang on a waypoint. */
void			 waypoint_change(struct waypoints *, struct waypoint *);
/* Has a waypoint and its children, or only its children, go after the next
 * pass. */
void			 waypoint_leave(struct waypoints *, struct waypoint *,
			    enum waypoint_state);
void			 waypoint_leave_children(struct waypoints *,
			    struct waypoint *, enum waypoint_state);
void			 waypoint_schedule(struct waypoints *);	/* tidying */
/* Frees one that has left; a directory's last waypoint ends its watch. */
void			 waypoint_free(struct waypoints *, struct waypoint *);

#define WAYPOINT_BYTES	1024		/* in the mean, for a directory */

static inline bool
waypoint_is_over(const struct waypoints *w, size_t max)
{
	return w->directories > max || w->bytes > max * WAYPOINT_BYTES;
}

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
