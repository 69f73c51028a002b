/*
 * site: a site whose directories are watched, without a disk: tests say what
 * lookups find and which events come.
 */
#ifndef T_UNIT_HTTP_WATCH_SITE_H
#define T_UNIT_HTTP_WATCH_SITE_H

#include <stdlib.h>
#include <string.h>

#include "helpers/notify.h"
#include "http/http.h"
#include "http/namespace.h"
#include "http/rules.h"
#include "http/watch/changes.h"
#include "http/watch/directory.h"
#include "http/watch/passes.h"
#include "http/watch/waypoint.h"
#include "http/watch/waypoints.h"
#include "lib/clock.h"
#include "lib/mem.h"
#include "t/unit/conf/confs.h"

static struct http_loop		*http;
static struct waypoints		*w;
static struct clock		 now;
static struct notify_event	 events[64];
static int			 nevents;
static int			 removed[64], nremoved;

/* In place of helpers/notify. */
uint32_t
notify_hash(const char *name)
{
	uint32_t	h = 1;

	while (*name != '\0')
		h = h * 31 + (unsigned char)*name++;
	return h;
}

void
notify_read(int notify, void (*on_event)(void *, const struct notify_event *),
    void *context)
{
	(void)notify;
	for (int i = 0; i < nevents; i++)
		on_event(context, &events[i]);
	nevents = 0;
}

void
notify_remove(int notify, int number)
{
	(void)notify;
	if (nremoved < 64)
		removed[nremoved++] = number;
}

static inline void
site_open(size_t max)
{
	static const char	text[] = "site a.org { listen *:80; root /tmp\n"
				    "index index.html; listing html\n"
				    "path /other { alias /dev }\n"
				    "path /doc { root /usr } }\n"
				    "cache { paths revalidate 1h stale 2h "
				    "negative 1h }\n";

	http = mem_zero(sizeof(*http));
	http->caches = mem_zero(sizeof(*http->caches));
	header_init(&http->caches->heads, 1000);
	pathname_init(&http->caches->paths, 5000, &http->caches->heads);
	http->conf = good(text);
	clock_update_us(&now);
	http->clock = &now;
	http->caches->fresh.revalidate = http->conf->cache.revalidate;
	http->caches->fresh.negative = http->conf->cache.negative;
	w = http->caches->waypoints = waypoints_new(http->caches, 1000, max,
	    false);
	nevents = nremoved = 0;
}

static inline void
site_close(void)
{
	waypoints_free(&http->caches->waypoints);
	pathname_free(&http->caches->paths);
	header_free(&http->caches->heads);
	conf_free((struct conf **)(uintptr_t)&http->conf);
	mem_drop(&http->caches);
	mem_drop(&http);
}

struct look {
	struct path	*path;		/* held */
	struct job	 job;
	struct watching	 watching;
	struct str	 decoded;
	size_t		 skip;
};

static inline void
look_begin(struct look *l, uint32_t kind, const char *name)
{
	const struct conf_site	*site = &http->conf->sites[0];

	memset(l, 0, sizeof(*l));
	l->decoded = str_of(name);
	l->path = pathname_add(&http->caches->paths,
	    namespace_of(0, kind, 0), l->decoded,
	    conf_find_rules(site, name, strlen(name)), false);
	job_init(&l->job, kind == NAMESPACE_LISTING ? JOB_LIST : JOB_RESOLVE);
	ck_assert_ptr_nonnull(rules_root(l->path->rules, l->decoded, &l->skip));
	l->job.find.path = name + l->skip + 1;
	if (kind != NAMESPACE_LISTING) {
		l->job.find.names = (struct str){ "index.html", 11 };
		l->job.resolve.siblings = (struct str){ ".gz", 4 };
	}
	waypoints_begin(http->caches, l->path, l->decoded, &l->job,
	    &l->watching);
}

/* What the helper has watched: numbers of directories, each with D, and bytes
 * of the path, or with B or F, bytes and the entry's name: "1B0srv 2D0". */
static inline void
look_watches(struct look *l, const char *way)
{
	struct job_waypoints	*all = &l->job.find.waypoints;
	struct job_waypoint	*p;
	char			 text[256], *word, *end, *rest = text;

	snprintf(text, sizeof(text), "%s", way);
	while ((word = strsep(&rest, " ")) != NULL && *word != '\0') {
		p = &all->at[all->n++];
		p->number = (int32_t)strtol(word, &end, 10);
		p->kind = *end == 'D' ? JOB_WAYPOINT_DIRECTORY : *end == 'B' ?
		    JOB_WAYPOINT_BENEATH : JOB_WAYPOINT_FILE;
		p->bytes = (uint32_t)strtol(end + 1, &end, 10);
		p->name = *end == '\0' ? 0 : notify_hash(end);
	}
	l->job.find.watched = JOB_WATCHED_ALL;
}

/* Notes the result, as lookup.c does; whether it is watched. */
static inline bool
look_end(struct look *l)
{
	bool	watched, outdated;

	l->job.find.facts.strong = true;
	watched = waypoints_end(http->caches, l->path, l->decoded, l->skip,
	    &l->job, &l->watching);
	outdated = !watched && waypoints_saw(http->caches, &l->job,
	    &l->watching);
	path_info_set(&http->caches->paths, l->path, &(struct path_info){
	    .kind = PATHNAME_DIRECTORY, .watched = watched,
	    .checked_at = watched ? now.ms + PATHNAME_WATCHED_MS : outdated ?
	    passes_old(http) : now.ms });
	pathname_release(&http->caches->paths, &l->path);
	return watched;
}

static inline bool
look_up(uint32_t kind, const char *name, const char *way)
{
	struct look	l;

	look_begin(&l, kind, name);
	/* A link at the end is always told of. */
	if (l.job.find.watch == JOB_WATCH_WAY || strchr(way, 'F') != NULL)
		look_watches(&l, way);
	else if (l.job.find.watch == JOB_WATCH_END)
		l.job.find.watched = JOB_WATCHED_ALL;
	return look_end(&l);
}

static inline void
event_come(enum notify_what what, int number, const char *name, bool directory)
{
	clock_update_us(&now);
	events[nevents++] = (struct notify_event){ .what = what,
	    .number = number, .name = name, .directory = directory };
	(void)changes_read(http);
}

static inline int64_t
age_of(uint32_t kind, const char *name)
{
	struct path	*p = pathname_hold(&http->caches->paths,
			    namespace_of(0, kind, 0), str_of(name));
	int64_t		 at;

	ck_assert_ptr_nonnull(p);
	at = passes_time(http, p, p->checked_at);
	pathname_release(&http->caches->paths, &p);
	return now.ms - at;
}

/* Whether the next request for it waits for a lookup. */
static inline bool
is_old(uint32_t kind, const char *name)
{
	return age_of(kind, name) > http->conf->cache.revalidate;
}

static inline bool
is_watched(const char *name)
{
	return age_of(NAMESPACE_TARGET, name) < 0;
}

static inline void
tidy(void)
{
	while (passes_tidy(http))
		continue;
}

#endif
