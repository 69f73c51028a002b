/*
 * changes: makes old what an event is about, and nothing else.
 *
 * An event of an entry makes some names old, which the path cache finds by
 * their hash.  A change of a waypoint makes old all that hangs on it: a pass
 * goes over all paths, a part in each iteration, and until it ends
 * get_freshness() asks about each path.
 */
#include <sys/param.h>

#include <string.h>

#include "helpers/notify.h"
#include "http/http.h"
#include "http/namespace.h"
#include "http/rules.h"
#include "http/variant.h"
#include "http/watch/changes.h"
#include "http/watch/waypoint.h"
#include "lib/clock.h"
#include "proto/uri.h"
#include "stats/stats.h"

#define ALL_KINDS	((1U << NAMESPACE_COUNT) - 1)
/* Age, in ms, of what is watched no more: results of lookups under way, which
 * began before the pass, must not be older. */
#define UNWATCHED_AGE	10000
#define REMOVE_MAX	64		/* in one call of changes_tidy() */

/*
 * Passes
 */

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

/* By the nearest directory above, or an entry there that is none. */
static int64_t
limit_by_way(const struct waypoints *w, uint32_t site, struct str target,
    int64_t looked_at)
{
	const struct waypoint	*p;

	for (target = waypoint_cut(target); target.len > 0;
	    target = waypoint_cut(target)) {
		p = waypoint_find(w, site, JOB_WAYPOINT_DIRECTORY, target);
		if (p != NULL)
			return limit_by_waypoint(w, p, looked_at);
		target.len--;
		p = waypoint_find(w, site, JOB_WAYPOINT_BENEATH, target);
		if (p != NULL && p->changed_at >= looked_at)
			return w->pass.old;
	}
	return w->pass.old - UNWATCHED_AGE;
}

static int64_t
limit_of_path(void *context, const struct path *path, int64_t checked_at)
{
	const struct waypoints	*w = context;
	uint32_t		 site = namespace_site(path->namespace);
	char			 decoded[JOB_PATH_MAX];
	struct str		 raw = { path->name, path->len }, target;
	size_t			 len;
	int64_t			 looked_at = checked_at > w->pass.now ?
				    checked_at - PATHNAME_WATCHED_MS :
				    checked_at;

	if (uri_resolve(raw, decoded, sizeof(decoded), &len) != WHY_NONE)
		return INT64_MAX;
	target = (struct str){ decoded, len };
	return MIN(limit_by_links(w, site, target, looked_at),
	    limit_by_way(w, site, target, looked_at));
}

/* While a pass is under way no age is below the limits, so get_freshness() asks
 * changes_time(). */
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
begin_pass(struct http_loop *http, struct waypoints *w)
{
	if (w->changed)
		set_limits(http, true);
	if (w->pass.under_way)		/* another one follows */
		return;
	w->pass.under_way = true;
	w->again = false;
	w->pass.bucket = 0;
}

static void
end_pass(struct http_loop *http, struct waypoints *w)
{
	struct waypoint	*p;

	w->pass.under_way = false;
	if (w->again)
		return;
	TAILQ_FOREACH(p, &w->leaving, age)
		p->state = WAYPOINT_DONE;
	w->changed = false;
	set_limits(http, false);
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

/* By the exact time: the clocks of other threads must not be ahead of it. */
static void
note_change(struct waypoints *w, struct waypoint *p)
{
	p->changed_at = clock_us() / 1000;
	w->changed = w->again = true;
	w->all_changed = w->nevents;
}

/* In this order parents stand before their children. */
static void
change_children(struct waypoints *w)
{
	struct waypoint	*p, *next;

	for (p = TAILQ_LAST(&w->active, waypoint_queue); p != NULL; p = next) {
		next = TAILQ_PREV(p, waypoint_queue, age);
		if (p->parent == NULL || p->parent->state == WAYPOINT_ACTIVE)
			continue;
		note_change(w, p);
		waypoint_leave(w, p, WAYPOINT_CHANGED);
	}
}

/* Makes old all that hangs on an entry, or a directory that is to leave. */
static void
change_waypoint(struct waypoints *w, struct waypoint *p, bool leaves)
{
	bool	has_children = p->children > 0, active;

	note_change(w, p);
	active = p->state == WAYPOINT_ACTIVE;
	if (active && leaves)
		waypoint_leave(w, p, WAYPOINT_CHANGED);
	if (!active || !has_children)
		return;
	if (leaves) {
		change_children(w);
		return;
	}
	p->state = WAYPOINT_CHANGED;	/* as its children's parent */
	change_children(w);
	p->state = WAYPOINT_ACTIVE;
}

static void
age_name(struct waypoints *w, uint32_t ns, struct str raw)
{
	path_info_age(w->paths, ns, raw, w->pass.old);
}

/* Makes a decoded target old in these kinds of namespaces (a bit each). */
static void
age_target(struct waypoints *w, uint32_t site, struct str target,
    uint32_t kinds)
{
	char		out[3 * JOB_PATH_MAX + 1];
	struct str	raw = { out, 0 };

	if (target.len >= JOB_PATH_MAX)
		return;
	raw.len = uri_encode(target, out);
	for (uint32_t kind = 0; kinds >> kind != 0; kind++)
		if (kind != NAMESPACE_LISTING && (kinds >> kind & 1) != 0)
			age_name(w, namespace_of(site, kind, 0), raw);
}

static void
age_listings(struct waypoints *w, const struct waypoint *p)
{
	char		out[3 * JOB_PATH_MAX + 1];
	struct str	raw = { out, uri_encode(waypoint_target(p), out) };

	for (uint32_t form = 0; p->forms >> form != 0; form++)
		if ((p->forms >> form & 1) != 0)
			age_name(w, namespace_of(p->site, NAMESPACE_LISTING,
			    form), raw);
}

static bool
is_index(const struct conf_rules *rules, struct str name)
{
	const struct conf_words	*index = rules_index(rules);

	for (size_t i = 0; i < index->n; i++)
		if (str_same(name, str_of(index->at[i])))
			return true;
	return false;
}

/* Whether a directory of the site may be answered by that entry. */
static bool
may_be_index(const struct conf_site *site, struct str name)
{
	if (is_index(&site->rules, name))
		return true;
	for (size_t i = 0; i < site->npaths; i++)
		if (is_index(&site->paths[i].rules, name))
			return true;
	return false;
}

/* Makes old what an entry of a directory is for: itself, the directory's index,
 * and the file that it is a variant of. */
static void
age_entry(struct waypoints *w, const struct conf *conf,
    const struct waypoint *p, struct str name)
{
	char		text[JOB_PATH_MAX];
	struct str	target = { text, p->len + name.len };

	if (target.len >= sizeof(text))
		return;
	memcpy(text, p->target, p->len);
	memcpy(text + p->len, name.at, name.len);
	age_target(w, p->site, target, p->kinds);
	if (may_be_index(&conf->sites[p->site], name))
		age_target(w, p->site, waypoint_target(p), p->kinds);
}

static void
change_entry(struct waypoints *w, const struct conf *conf, struct waypoint *p,
    const struct notify_event *e)
{
	struct str	name = str_of(e->name), stem = name;
	char		text[JOB_PATH_MAX];
	struct waypoint	*inner;

	age_entry(w, conf, p, name);
	if (variant_cut_suffix(&stem))
		age_entry(w, conf, p, stem);
	age_listings(w, p);
	if (!e->directory || p->len + name.len + 1 >= sizeof(text))
		return;
	memcpy(text, p->target, p->len);
	memcpy(text + p->len, name.at, name.len);
	text[p->len + name.len] = '/';
	inner = waypoint_find(w, p->site, JOB_WAYPOINT_DIRECTORY,
	    (struct str){ text, p->len + name.len + 1 });
	if (inner != NULL)
		change_waypoint(w, inner, true);
}

static void
apply_event(struct waypoints *w, const struct conf *conf, struct waypoint *p,
    const struct notify_event *e)
{
	if (e->what == NOTIFY_GONE)
		change_waypoint(w, p, true);
	else if (p->kind == JOB_WAYPOINT_DIRECTORY)
		change_entry(w, conf, p, e);
	else if (p->name != notify_hash(e->name))
		return;
	else if (p->kind == JOB_WAYPOINT_BENEATH)
		change_waypoint(w, p, false);
	else {
		/* A lookup under way knows nothing of a link's names. */
		w->all_changed = w->nevents;
		age_target(w, p->site, waypoint_target(p), ALL_KINDS);
	}
}

/* All is old, and each way must be walked again.  The watches stay: some
 * systems take long to begin one. */
static void
lose_events(struct waypoints *w)
{
	struct waypoint	*p;

	stats_count(STATS_WATCH_LOSSES);
	TAILQ_FOREACH(p, &w->active, age) {
		note_change(w, p);
		p->doubtful = true;
	}
	TAILQ_FOREACH(p, &w->leaving, age)
		note_change(w, p);
	w->all_changed = w->removed = w->nevents;
}

/* The lookup that watches the directory is under way, or was given up. */
static void
handle_unknown(struct waypoints *w, const struct notify_event *e)
{
	w->all_changed = w->nevents;
	if (e->what == NOTIFY_GONE)
		w->removed = w->nevents;
	else if (w->pending == 0)
		notify_remove(w->notify, e->number);
}

static void
on_event(void *context, const struct notify_event *e)
{
	struct http_loop	*http = context;
	struct waypoints	*w = http->caches->waypoints;
	struct waypoint		*p;
	bool			 known = false;

	stats_count(STATS_WATCH_EVENTS);
	waypoint_note_event(w, e->number, e->what == NOTIFY_ENTRY ?
	    notify_hash(e->name) : 0);
	if (e->what == NOTIFY_LOST) {
		lose_events(w);
		return;
	}
	LIST_FOREACH(p, waypoint_numbers(w, e->number), by_number)
		if (p->number == e->number) {
			apply_event(w, http->conf, p, e);
			known = true;
		}
	if (!known)
		handle_unknown(w, e);
}

int64_t
changes_old(const struct http_loop *http)
{
	const struct conf	*conf = http->conf;

	return http->clock->ms - 1 - MAX(conf->cache.revalidate,
	    conf->cache.negative);
}

int64_t
changes_time(const struct http_loop *http, const struct path *path,
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

void
changes_read(struct http_loop *http)
{
	struct waypoints	*w = http->caches->waypoints;

	if (w == NULL)
		return;
	lock_acquire(w->lock);
	w->pass.old = changes_old(http);
	w->pass.now = http->clock->ms;
	notify_read(w->notify, on_event, http);
	if (w->again) {
		begin_pass(http, w);
		waypoint_schedule(w);
	}
	lock_release(w->lock);
}

bool
changes_tidy(struct http_loop *http)
{
	struct waypoints	*w = http->caches->waypoints;
	bool			 more;

	if (w == NULL)
		return false;
	lock_acquire(w->lock);
	w->pass.now = http->clock->ms;
	w->pass.old = changes_old(http);
	if (w->again)
		begin_pass(http, w);
	if (!w->pass.under_way)
		remove_done(w);
	else if (!pathname_age(w->paths, &w->pass.bucket, limit_of_path, w))
		end_pass(http, w);
	more = w->pass.under_way || w->again || !TAILQ_EMPTY(&w->leaving);
	lock_release(w->lock);
	return more;
}
