/*
 * waypoints: the watched directories on which the answers of paths depend, and
 * the answers that an event there makes old.
 *
 * A path is watched if each change of its answer comes as an event; then its
 * age is negative for PATHNAME_WATCHED_MS, so it is fresh.  A path that is not
 * watched becomes old by events, too, as far as these come.  Without a notify
 * descriptor the functions do nothing, and no path is watched.
 */
#ifndef HTTP_WATCH_WAYPOINTS_H
#define HTTP_WATCH_WAYPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/watch/state.h"

struct caches;
struct job;
struct path;

struct waypoints	*waypoints_new(struct caches *, int notify, size_t max,
			    bool shared);
void			 waypoints_free(struct waypoints **);
/* Sets another limit; NULL does nothing. */
void			 waypoints_set_max(struct waypoints *, size_t);

/* Before a lookup of a path: has its job watch what is not watched yet. */
void		waypoints_begin(struct caches *, const struct path *,
		    struct str decoded, struct job *, struct watching *);
/* Whether a request that comes now may use the lookup's result. */
bool		waypoints_may_join(struct caches *, const struct job *,
		    const struct watching *);
/* Between these two no thread handles an event. */
void		waypoints_stop_events(struct caches *);
void		waypoints_resume_events(struct caches *);
/* Whether an event since it began was about what a job looked at; with events
 * stopped. */
bool		waypoints_saw(struct caches *, const struct job *,
		    const struct watching *);
/* After it, `skip` bytes of the path belonging to no job: notes what is watched
 * now; whether the path is.  The lookup is under way no more. */
bool		waypoints_end(struct caches *, const struct path *,
		    struct str decoded, size_t skip, const struct job *,
		    struct watching *);
void		waypoints_measure(const struct waypoints *);

#endif
