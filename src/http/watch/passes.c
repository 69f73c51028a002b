/*
 * passes: find paths by what they hang on, which the path cache does not keep.
 *
 * Until a pass has ended get_freshness() asks about each path.
 */
#include <sys/param.h>

#include "http/http.h"
#include "http/rules.h"
#include "http/namespace.h"
#include "http/watch/directory.h"
#include "http/watch/passes.h"
#include "http/watch/waypoint.h"
#include "proto/uri.h"

/* Age, in ms, of what is watched no more: results of lookups under way, which
 * began before the pass, must not be older. */
#define UNWATCHED_AGE	10000
#define REMOVE_MAX	64		/* in one call of passes_tidy() */
#define EVICT_SHARE	16		/* one in so many goes at once */

/* The time that an answer of a lookup may have at most, by a waypoint. */
static int64_t
limit_by_waypoint(const struct waypoints *w, const struct waypoint *p,
    int64_t looked_at)
{
	if (p->changed_at >= looked_at)
		return w->pass.old;
	return p->state == WAYPOINT_ACTIVE ? INT64_MAX :
	    w->pass.old - UNWATCHED_AGE;
}

static int64_t
limit_by_links(const struct waypoints *w, uint32_t site, struct str target,
    int64_t looked_at)
{
	const struct waypoint	*p;
	int64_t			 limit = INT64_MAX;

	LIST_FOREACH(p, waypoint_targets(w, site, JOB_WAYPOINT_FILE, target),
	    by_target)
		if (p->site == site && p->kind == JOB_WAYPOINT_FILE &&
		    str_same(waypoint_target(p), target))
			limit = MIN(limit, limit_by_waypoint(w, p, looked_at));
	return limit;
}

/* A target up to the next slash behind some bytes of it. */
static struct str
cut_segment(struct str target, size_t from)
{
	while (from < target.len && target.at[from] != '/')
		from++;
	return (struct str){ target.at, from };
}

/* By the directories from the root down, which is `skip` bytes of the target,
 * and by an entry that is none. */
static int64_t
limit_by_way(const struct waypoints *w, uint32_t site, struct str target,
    size_t skip, int64_t looked_at)
{
	const struct waypoint	*p;
	struct str		 part = { target.at, skip };
	int64_t			 limit = w->pass.old - UNWATCHED_AGE;

	while (part.len < target.len) {
		p = waypoint_find(w, site, JOB_WAYPOINT_BENEATH, part);
		if (p != NULL && p->changed_at >= looked_at)
			return w->pass.old;
		part.len++;
		p = waypoint_find(w, site, JOB_WAYPOINT_DIRECTORY, part);
		if (p == NULL)
			break;
		limit = limit_by_waypoint(w, p, looked_at);
		if (limit != INT64_MAX)
			break;
		part = cut_segment(target, part.len);
	}
	return limit;
}

/* Decodes a path's target and finds its root; false: it has none. */
static bool
decode_path(const struct path *path, char decoded[JOB_PATH_MAX],
    struct str *target, size_t *skip)
{
	struct str	raw = { path->name, path->len };
	size_t		len;

	if (uri_resolve(raw, decoded, JOB_PATH_MAX, &len) != WHY_NONE)
		return false;
	*target = (struct str){ decoded, len };
	return rules_root(path->rules, *target, skip) != NULL;
}

static int64_t
limit_of_path(void *context, const struct path *path, int64_t checked_at)
{
	const struct waypoints	*w = context;
	uint32_t		 site = namespace_site(path->namespace);
	char			 decoded[JOB_PATH_MAX];
	struct str		 target;
	size_t			 skip;
	int64_t			 looked_at = checked_at > w->pass.now ?
				    checked_at - PATHNAME_WATCHED_MS :
				    checked_at;

	if (checked_at <= w->pass.old ||
	    !decode_path(path, decoded, &target, &skip))
		return INT64_MAX;
	return MIN(limit_by_links(w, site, target, looked_at),
	    limit_by_way(w, site, target, skip, looked_at));
}

/* Marks the directory of a watched path that is in use. */
static int64_t
mark_directory(void *context, const struct path *path, int64_t checked_at)
{
	const struct waypoints	*w = context;
	char			 decoded[JOB_PATH_MAX];
	struct str		 target;
	size_t			 skip;
	struct waypoint		*p;

	if (!path->used || checked_at <= w->pass.now ||
	    !decode_path(path, decoded, &target, &skip))
		return INT64_MAX;
	p = waypoint_find(w, namespace_site(path->namespace),
	    JOB_WAYPOINT_DIRECTORY, waypoint_cut(target));
	if (p != NULL)
		p->used = true;
	return INT64_MAX;
}

/* No age is below the limits then, so get_freshness() asks passes_time(). */
static void
set_limits(struct http_loop *http, bool hidden)
{
	struct caches	*caches = http->caches;

	caches->fresh.revalidate = hidden ? PATHNAME_EXPIRED :
	    http->conf->cache.revalidate;
	caches->fresh.negative = hidden ? PATHNAME_EXPIRED :
	    http->conf->cache.negative;
}

static void
begin_pass(struct waypoints *w, int kind)
{
	w->pass.kind = kind;
	w->pass.bucket = 0;
}

void
passes_begin(struct http_loop *http)
{
	struct waypoints	*w = http->caches->waypoints;

	if (w->changed)
		set_limits(http, true);
	if (w->pass.kind != PASS_AGE) {	/* else another one follows */
		begin_pass(w, PASS_AGE);
		w->again = false;
	}
	waypoint_schedule(w);
}

static void
end_age(struct http_loop *http, struct waypoints *w)
{
	struct waypoint	*p;

	w->pass.kind = PASS_NONE;
	if (w->again)
		return;
	TAILQ_FOREACH(p, &w->leaving, age)
		p->state = WAYPOINT_DONE;
	w->changed = false;
	set_limits(http, false);
}

/* The oldest go that are not marked (second chance). */
static void
end_mark(struct waypoints *w)
{
	struct waypoint	*p;
	size_t		 n = w->n / EVICT_SHARE + 1;

	w->pass.kind = PASS_NONE;
	w->evict = false;
	while (n > 0 && (p = TAILQ_FIRST(&w->active)) != NULL) {
		if (p->used) {
			p->used = false;
			waypoint_touch(w, p);
			continue;
		}
		waypoint_leave(w, p, WAYPOINT_EVICTED);
		n--;
	}
}

static void
remove_done(struct waypoints *w)
{
	struct waypoint	*p;

	for (int i = 0; i < REMOVE_MAX; i++) {
		p = TAILQ_FIRST(&w->leaving);
		if (p == NULL || p->state != WAYPOINT_DONE)
			break;
		waypoint_free(w, p);
	}
}

static bool
must_evict(const struct waypoints *w)
{
	return (w->evict || waypoint_is_over(w, w->max)) &&
	    !TAILQ_EMPTY(&w->active);
}

static void
continue_pass(struct http_loop *http, struct waypoints *w)
{
	switch (w->pass.kind) {
	case PASS_AGE:
		if (!pathname_age(w->paths, &w->pass.bucket, limit_of_path, w))
			end_age(http, w);
		break;
	case PASS_MARK:
		if (!pathname_age(w->paths, &w->pass.bucket, mark_directory,
		    w))
			end_mark(w);
		break;
	default:
		remove_done(w);
		if (must_evict(w) && TAILQ_EMPTY(&w->leaving))
			begin_pass(w, PASS_MARK);
	}
}

bool
passes_tidy(struct http_loop *http)
{
	struct waypoints	*w = http->caches->waypoints;
	bool			 more;

	if (w == NULL)
		return false;
	lock_acquire(w->lock);
	passes_set_time(http);
	if (w->again)
		passes_begin(http);
	continue_pass(http, w);
	more = w->pass.kind != PASS_NONE || w->again || must_evict(w) ||
	    !TAILQ_EMPTY(&w->leaving);
	lock_release(w->lock);
	return more;
}

int64_t
passes_old(const struct http_loop *http)
{
	const struct conf	*conf = http->conf;

	return http->clock->ms - 1 - MAX(conf->cache.revalidate,
	    conf->cache.negative);
}

void
passes_set_time(struct http_loop *http)
{
	struct waypoints	*w = http->caches->waypoints;

	w->pass.now = http->clock->ms;
	w->pass.old = passes_old(http);
}

int64_t
passes_time(const struct http_loop *http, const struct path *path,
    int64_t checked_at)
{
	struct waypoints	*w = http->caches->waypoints;

	if (w == NULL)
		return checked_at;
	lock_acquire(w->lock);
	if (w->changed)
		checked_at = MIN(checked_at, limit_of_path(w, path,
		    checked_at));
	lock_release(w->lock);
	return checked_at;
}
