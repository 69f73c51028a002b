/*
 * changes: makes old what an event is about, and nothing else.
 *
 * An event of an entry makes some names old, which the path cache finds by
 * their hash.  A change of a waypoint makes old all that hangs on it: see
 * passes.c.
 */
#include <string.h>

#include "helpers/notify.h"
#include "http/http.h"
#include "http/namespace.h"
#include "http/rules.h"
#include "http/variants/variant.h"
#include "http/watch/changes.h"
#include "http/watch/directory.h"
#include "http/watch/passes.h"
#include "http/watch/waypoint.h"
#include "proto/uri.h"
#include "stats/stats.h"

#define ALL_KINDS	((1U << NAMESPACE_COUNT) - 1)
#define READS_MAX	16		/* for one lookup */

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

/* Makes old what an entry is for without a suffix that these rules try. */
static void
age_tried(struct waypoints *w, const struct conf *conf,
    const struct waypoint *p, struct str name, const struct conf_rules *rules)
{
	struct str	suffix, end;

	for (size_t i = 0; i < rules->try.n; i++) {
		suffix = str_of(rules->try.at[i]);
		if (suffix.len >= name.len)
			continue;
		end = (struct str){ name.at + name.len - suffix.len,
		    suffix.len };
		if (str_same(end, suffix))
			age_entry(w, conf, p, (struct str){ name.at,
			    name.len - suffix.len });
	}
}

/* Makes old what an entry is for, with its name or without a suffix. */
static void
age_entries(struct waypoints *w, const struct conf *conf,
    const struct waypoint *p, struct str name)
{
	const struct conf_site	*site = &conf->sites[p->site];

	age_entry(w, conf, p, name);
	age_tried(w, conf, p, name, &site->rules);
	for (size_t i = 0; i < site->npaths; i++)
		age_tried(w, conf, p, name, &site->paths[i].rules);
}

static void
change_entry(struct waypoints *w, const struct conf *conf, struct waypoint *p,
    const struct notify_event *e)
{
	struct str	name = str_of(e->name), stem = name;
	char		text[JOB_PATH_MAX];
	struct waypoint	*inner;

	age_entries(w, conf, p, name);
	if (variant_cut_suffix(&stem))
		age_entries(w, conf, p, stem);
	age_listings(w, p);
	if (!e->directory || p->len + name.len + 1 >= sizeof(text))
		return;
	memcpy(text, p->target, p->len);
	memcpy(text + p->len, name.at, name.len);
	text[p->len + name.len] = '/';
	inner = waypoint_find(w, p->root, JOB_WAYPOINT_DIRECTORY,
	    (struct str){ text, p->len + name.len + 1 });
	if (inner != NULL)
		waypoint_leave(w, inner, WAYPOINT_CHANGED);
}

/* An absent name leaves: the next lookup meets a directory. */
static void
change_beneath(struct waypoints *w, struct waypoint *p)
{
	if (p->absent) {
		waypoint_leave(w, p, WAYPOINT_CHANGED);
		return;
	}
	waypoint_change(w, p);
	waypoint_leave_children(w, p, WAYPOINT_CHANGED);
}

static void
apply_event(struct waypoints *w, const struct conf *conf, struct waypoint *p,
    const struct notify_event *e)
{
	switch (p->kind) {
	case JOB_WAYPOINT_DIRECTORY:
		change_entry(w, conf, p, e);
		break;
	case JOB_WAYPOINT_BENEATH:
		change_beneath(w, p);
		break;
	default:
		w->hidden = w->nevents;
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
		waypoint_change(w, p);
		p->doubtful = true;
	}
	TAILQ_FOREACH(p, &w->leaving, age)
		waypoint_change(w, p);
	w->lost = w->nevents;
}

static void
apply_to(struct waypoints *w, const struct conf *conf,
    struct waypoint_list *list, const struct notify_event *e, uint32_t name)
{
	struct waypoint	*p, *next;

	for (p = LIST_FIRST(list); p != NULL; p = next) {
		next = LIST_NEXT(p, by_entry);
		if (p->directory->number == e->number && p->name == name)
			apply_event(w, conf, p, e);
	}
}

static void
handle_entry(struct waypoints *w, const struct conf *conf,
    const struct notify_event *e)
{
	uint32_t	name = notify_hash(e->name);

	*directory_name_mark(w, name) = w->nevents;
	*directory_entry_mark(w, e->number) = w->nevents;
	if (LIST_EMPTY(&directory_hear(w, e->number)->waypoints))
		w->hidden = w->nevents;	/* see waypoints_end() */
	apply_to(w, conf, directory_entries(w, e->number, 0), e, 0);
	apply_to(w, conf, directory_entries(w, e->number, name), e, name);
}

static void
handle_gone(struct waypoints *w, int number)
{
	struct directory	*d = directory_find(w, number);
	struct waypoint		*p;

	*directory_end_mark(w, number) = w->hidden = w->nevents;
	if (d == NULL)
		return;
	LIST_FOREACH(p, &d->waypoints, in_directory)
		waypoint_leave(w, p, WAYPOINT_CHANGED);
	if (LIST_EMPTY(&d->waypoints))
		directory_end(w, d);
}

static void
on_event(void *context, const struct notify_event *e)
{
	struct http_loop	*http = context;
	struct waypoints	*w = http->caches->waypoints;

	stats_count(STATS_WATCH_EVENTS);
	w->nevents++;
	switch (e->what) {
	case NOTIFY_ENTRY:
		handle_entry(w, http->conf, e);
		break;
	case NOTIFY_GONE:
		handle_gone(w, e->number);
		break;
	case NOTIFY_LOST:
		lose_events(w);
		break;
	}
}

bool
changes_read(struct http_loop *http)
{
	struct waypoints	*w = http->caches->waypoints;
	uint64_t		 before;
	bool			 any;

	if (w == NULL)
		return false;
	lock_acquire(w->lock);
	passes_set_time(http);
	before = w->nevents;
	notify_read(w->notify, on_event, http);
	any = w->nevents != before;
	directory_end_unknown(w);
	if (w->again)
		passes_begin(http);
	lock_release(w->lock);
	return any;
}

void
changes_catch_up(struct http_loop *http)
{
	for (int i = 0; i < READS_MAX && changes_read(http); i++)
		;
}
