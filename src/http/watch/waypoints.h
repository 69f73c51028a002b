/*
 * waypoints: which watched directories what is known of paths hangs on, and
 * what becomes old with an event there.
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

#include "lib/str.h"

struct caches;
struct job;
struct path;
struct waypoints;

struct waypoints	*waypoints_new(struct caches *, int notify, size_t max,
			    bool shared);
void			 waypoints_free(struct waypoints **);

/*
 * Before a lookup of a path: has its job watch what is not watched yet, and
 * returns the number of the last event.
 */
uint64_t	waypoints_begin(struct caches *, const struct path *,
		    struct str decoded, struct job *);
/* Whether an event since that number was about what a job looks at. */
bool		waypoints_saw(struct caches *, const struct job *,
		    uint64_t since);
/* After it, `skip` bytes of the path belonging to no job: notes what is watched
 * now; whether the path is. */
bool		waypoints_end(struct caches *, const struct path *,
		    struct str decoded, size_t skip, const struct job *,
		    uint64_t since);
void		waypoints_measure(const struct waypoints *);

#endif
