/*
 * passes: find paths by what they hang on, which the path cache does not keep.
 *
 * Until a pass has ended get_freshness() asks about each path.
 */
#include <sys/param.h>

#include "cache/path_info.h"
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
/* Ms by which the clock of a thread may be behind that of another. */
#define CLOCK_LAG_MS	100
#define REMOVE_MAX	64		/* in one call of passes_tidy() */
#define EVICT_INTERVAL_MS	1000
#define EVICT_SHARE	8		/* one in so many goes at once */

/* The result of a lookup, which is to be judged. */
struct result {
	const void	*root;		/* see waypoint_root() */
	struct str	 target;
	size_t		 skip;		/* bytes of it that the root replaces */
	int64_t		 looked_at;	/* clock ms */
	bool		 watched;
};

/* The time that a result may have at most, by a waypoint. */
static int64_t
limit_by_waypoint(const struct waypoints *w, const struct waypoint *p,
    const struct result *a)
{
	if (p->changed_at >= a->looked_at)
		return w->pass.old;
	return p->state == WAYPOINT_ACTIVE || !a->watched ? INT64_MAX :
	    w->pass.old - UNWATCHED_AGE;
}

/* By the waypoints of a kind that lead to a part of the target. */
static int64_t
limit_by_kind(const struct waypoints *w, unsigned kind, struct str part,
    const struct result *a)
{
	const struct waypoint	*p;
	int64_t			 limit = INT64_MAX;

	LIST_FOREACH(p, waypoint_targets(w, a->root, kind, part), by_target)
		if (p->root == a->root && p->kind == kind &&
		    str_same(waypoint_target(p), part))
			limit = MIN(limit, limit_by_waypoint(w, p, a));
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

/* By the directories from the root down, and by entries that are none. */
static int64_t
limit_by_way(const struct waypoints *w, const struct result *a)
{
	struct str	part = { a->target.at, a->skip + 1 };
	int64_t		limit = limit_by_kind(w, JOB_WAYPOINT_BENEATH, part, a);
	bool		found = false;

	while (limit == INT64_MAX && waypoint_find(w, a->root,
	    JOB_WAYPOINT_DIRECTORY, part) != NULL) {
		found = true;
		limit = limit_by_kind(w, JOB_WAYPOINT_DIRECTORY, part, a);
		part = cut_segment(a->target, part.len);
		if (part.len == a->target.len)
			break;
		limit = MIN(limit, limit_by_kind(w, JOB_WAYPOINT_BENEATH, part,
		    a));
		part.len++;
	}
	return found || limit != INT64_MAX || !a->watched ? limit :
	    w->pass.old - UNWATCHED_AGE;
}

/* Decodes a path's target and finds its root; false: it has none. */
static bool
read_path(const struct waypoints *w, const struct path *path,
    int64_t checked_at, char decoded[JOB_PATH_MAX], struct result *a)
{
	struct rules_place	place;

	rules_locate(path, decoded, &place);
	*a = (struct result){ .root = waypoint_root(path),
	    .target = place.name, .skip = place.skip,
	    .watched = checked_at > w->pass.now };
	a->looked_at = a->watched ? checked_at - PATHNAME_WATCHED_MS :
	    checked_at;
	return place.root != NULL && a->skip < a->target.len;
}

static int64_t
limit_of_path(void *context, const struct path *path, int64_t checked_at)
{
	const struct waypoints	*w = context;
	char			 decoded[JOB_PATH_MAX];
	struct result		 a;

	if (checked_at <= w->pass.old ||
	    !read_path(w, path, checked_at, decoded, &a))
		return INT64_MAX;
	return MIN(limit_by_kind(w, JOB_WAYPOINT_FILE, a.target, &a),
	    limit_by_way(w, &a));
}

static void
mark_one(struct waypoint *p)
{
	if (p != NULL)
		p->used = true;
}

/* Marks the directory, and the link, of a watched path that is in use. */
static int64_t
mark_directory(void *context, const struct path *path, int64_t checked_at)
{
	const struct waypoints	*w = context;
	char			 decoded[JOB_PATH_MAX];
	struct result		 a;

	if (path->uses == 0 || checked_at <= w->pass.now ||
	    !read_path(w, path, checked_at, decoded, &a))
		return INT64_MAX;
	mark_one(waypoint_find(w, a.root, JOB_WAYPOINT_DIRECTORY,
	    waypoint_cut(a.target)));
	mark_one(waypoint_find(w, a.root, JOB_WAYPOINT_FILE, a.target));
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
	w->pass.number += kind == PASS_AGE;
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
	TAILQ_FOREACH(p, &w->leaving, age)
		if (p->left_in < w->pass.number)
			p->state = WAYPOINT_DONE;
	if (w->again)
		return;
	w->changed = false;
	set_limits(http, false);
}

static size_t
count_surplus(const struct waypoints *w)
{
	return w->directories > w->max ? w->directories - w->max : 0;
}

/* The oldest go that are not marked (second chance). */
static void
end_mark(struct waypoints *w)
{
	struct waypoint	*p;
	size_t		 n = w->n / EVICT_SHARE + count_surplus(w) + 1;

	w->pass.kind = PASS_NONE;
	w->evict = false;
	w->evicted_at = w->pass.now;
	while (n > 0 && (p = TAILQ_FIRST(&w->active)) != NULL) {
		if (p->used) {
			p->used = false;
			waypoint_touch(w, p);
			continue;
		}
		waypoint_leave(w, p, WAYPOINT_EVICTED);
		n--;
	}
	waypoint_schedule(w);
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

/* Two passes over all paths follow. */
static bool
may_evict(const struct waypoints *w)
{
	return w->evict && w->pass.now - w->evicted_at >= EVICT_INTERVAL_MS;
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
		if (!may_evict(w))
			w->evict = false;	/* until a lookup asks again */
		else if (TAILQ_EMPTY(&w->leaving))
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
	more = w->pass.kind != PASS_NONE || w->again || w->evict ||
	    !TAILQ_EMPTY(&w->leaving);
	lock_release(w->lock);
	return more;
}

int64_t
passes_old(const struct http_loop *http)
{
	const struct conf	*conf = http->conf;

	return http->clock->ms - CLOCK_LAG_MS - MAX(conf->cache.revalidate,
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
	/* Since the copy was made, a pass may have come by, and have ended. */
	checked_at = MIN(checked_at, path_info_time(w->paths, path));
	if (w->changed)
		checked_at = MIN(checked_at, limit_of_path(w, path,
		    checked_at));
	lock_release(w->lock);
	return checked_at;
}
