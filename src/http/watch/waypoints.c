/*
 * waypoints: tells the job of a lookup what to watch, and afterwards notes what
 * is watched now, and whether an event was about it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helpers/notify.h"
#include "http/http.h"
#include "http/namespace.h"
#include "http/watch/directory.h"
#include "http/watch/waypoint.h"
#include "http/watch/waypoints.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "proto/uri.h"
#include "stats/stats.h"

#define BUCKETS_MAX	(1 << 22)
/* Clients choose names that are not there. */
#define ABSENCES_MAX	64		/* in a directory */

struct waypoints *
waypoints_new(struct caches *caches, int notify, size_t max, bool shared)
{
	struct waypoints	*w;
	size_t			 n = 64;

	if (notify == -1 || max == 0)
		return NULL;
	while (n < max && n < BUCKETS_MAX)
		n *= 2;
	w = mem_zero(sizeof(*w));
	w->lock = shared ? lock_new() : NULL;
	w->paths = &caches->paths;
	w->notify = notify;
	w->max = max;
	w->mask = n - 1;
	w->by_number = mem_array(n, sizeof(w->by_number[0]));
	w->by_entry = mem_array(n, sizeof(w->by_entry[0]));
	w->by_target = mem_array(n, sizeof(w->by_target[0]));
	TAILQ_INIT(&w->active);
	TAILQ_INIT(&w->leaving);
	TAILQ_INIT(&w->unknown);
	TAILQ_INIT(&w->lookups);
	hash_key_random(&w->key);
	w->schedule = caches->files.schedule_tidy;
	w->schedule_context = caches->files.schedule_context;
	return w;
}

void
waypoints_free(struct waypoints **wp)
{
	struct waypoints	*w = *wp;
	struct waypoint		*p;

	if (w == NULL)
		return;
	TAILQ_INIT(&w->lookups);
	w->notify = -1;			/* to close it ends all watches */
	while ((p = TAILQ_FIRST(&w->active)) != NULL)
		waypoint_leave(w, p, WAYPOINT_DONE);
	while ((p = TAILQ_FIRST(&w->leaving)) != NULL)
		waypoint_free(w, p);
	directory_end_unknown(w);
	need(w->directories == 0);
	free(w->by_number);
	free(w->by_entry);
	free(w->by_target);
	lock_free(&w->lock);
	mem_drop(wp);
}

static void
log_full(struct waypoints *w, bool system)
{
	char	own[64];

	if (w->full)
		return;
	w->full = true;
	snprintf(own, sizeof(own), "limit of %zu watched directories", w->max);
	log_notice("the %s is reached: those whose files are asked for least "
	    "are watched no more, and \"revalidate\" holds for these files",
	    system ? "system's limit (fs.inotify.max_user_watches)" : own);
}

static void
keep_limit(struct waypoints *w, const struct job *job)
{
	bool	system = job->find.watched == JOB_WATCHED_FULL;

	if (!system && !waypoint_is_over(w, w->max))
		return;
	log_full(w, system);
	w->evict = true;
	waypoint_schedule(w);
}

void
waypoints_set_max(struct waypoints *w, size_t max)
{
	if (w == NULL || w->max == max)
		return;
	lock_acquire(w->lock);
	w->max = max;
	if (waypoint_is_over(w, max)) {
		w->evict = true;
		waypoint_schedule(w);
	}
	lock_release(w->lock);
}

/* Nothing more is watched where directories come faster than they go. */
static bool
has_room(const struct waypoints *w)
{
	return !waypoint_is_over(w, w->max + w->max / 4);
}

/* Whether events can find a path: there are other spellings of its name. */
static bool
is_plain(const struct path *path, struct str decoded)
{
	char		out[3 * JOB_PATH_MAX + 1];
	struct str	raw = { out, 0 };

	if (decoded.len >= JOB_PATH_MAX)
		return false;
	raw.len = uri_encode(decoded, out);
	return str_same(raw, (struct str){ path->name, path->len });
}

static struct waypoint *
find_directory(const struct waypoints *w, const struct path *path,
    struct str decoded)
{
	struct waypoint	*p = waypoint_find(w,
			    waypoint_root(path),
			    JOB_WAYPOINT_DIRECTORY, waypoint_cut(decoded));

	return p != NULL && p->state == WAYPOINT_ACTIVE && !p->doubtful ? p :
	    NULL;
}

static int
get_number(const struct waypoint *p)
{
	return p != NULL && p->directory != NULL ? p->directory->number :
	    WAYPOINT_UNWATCHED;
}

static enum job_watch
choose_watch(const struct waypoints *w, const struct waypoint *directory)
{
	if (directory == NULL)
		return has_room(w) ? JOB_WATCH_WAY : JOB_WATCH_NONE;
	return directory->directory == NULL ? JOB_WATCH_NONE : JOB_WATCH_END;
}

void
waypoints_begin(struct caches *caches, const struct path *path,
    struct str decoded, struct job *job, struct watching *l)
{
	struct waypoints	*w = caches->waypoints;
	struct waypoint		*p;

	if (w == NULL || job->find.user != NULL || !is_plain(path, decoded))
		return;
	lock_acquire(w->lock);
	p = find_directory(w, path, decoded);
	job->find.watch = choose_watch(w, p);
	if (p != NULL)
		waypoint_touch(w, p);
	l->since = w->nevents;
	l->number = get_number(p);
	if (job->find.watch != JOB_WATCH_NONE)
		TAILQ_INSERT_TAIL(&w->lookups, l, link);
	lock_release(w->lock);
}

static bool
saw_name(struct waypoints *w, struct str name, const char *suffix,
    uint64_t since)
{
	char	text[NAME_MAX + 1];

	if (name.len + strlen(suffix) >= sizeof(text))
		return false;		/* there is no such entry */
	memcpy(text, name.at, name.len);
	strcpy(text + name.len, suffix);
	return *directory_name_mark(w, notify_hash(text)) > since;
}

/* Of a name that the job looks at, alone or with a suffix. */
static bool
saw_names(struct waypoints *w, const struct job *job, struct str name,
    uint64_t since)
{
	struct str	all = { NULL, 0 };

	if (saw_name(w, name, "", since))
		return true;
	if (job->kind == JOB_RESOLVE)
		all = job->resolve.siblings;
	for (size_t at = 0; at < all.len; at += strlen(all.at + at) + 1)
		if (saw_name(w, name, all.at + at, since))
			return true;
	return false;
}

/* Of names behind the path's last, as find.names says. */
static bool
saw_names_behind(struct waypoints *w, const struct job *job, const char *last,
    uint64_t since)
{
	struct str	names = job->find.names;
	char		both[NAME_MAX + 1];
	int		n;

	for (size_t at = 0; at < names.len; at += strlen(names.at + at) + 1) {
		n = snprintf(both, sizeof(both), "%s%s", last, names.at + at);
		if (n > 0 && n < (int)sizeof(both) &&
		    saw_names(w, job, str_of(both), since))
			return true;
	}
	return false;
}

/* Of the job's path, or of its names.  Deeper paths are not watched. */
static bool
saw_own_names(struct waypoints *w, const struct job *job, uint64_t since)
{
	struct str	 one;
	const char	*path = job->find.path, *slash = strrchr(path, '/');
	const char	*last = slash != NULL ? slash + 1 : path;

	for (int i = 0; *path != '\0' && i < JOB_WAYPOINTS_MAX; i++) {
		one = (struct str){ path, strcspn(path, "/") };
		if (saw_names(w, job, one, since))
			return true;
		path += one.len;
		path += strspn(path, "/");
	}
	return saw_names_behind(w, job, last, since);
}

/* Of a link on the way, which only the reply names, or of the end of a watch
 * that the job was told of: what hangs on that is heard of no more. */
static bool
saw_waypoints(struct waypoints *w, const struct job *job, uint64_t since)
{
	const struct job_waypoints	*all = &job->find.waypoints;

	for (uint32_t i = 0; i < all->n; i++)
		if ((all->at[i].name != 0 &&
		    *directory_name_mark(w, all->at[i].name) > since) ||
		    *directory_end_mark(w, all->at[i].number) > since)
			return true;
	return false;
}

/* Of the way to the known directory, or any entry of what is listed. */
static bool
saw_directory(struct waypoints *w, const struct job *job,
    const struct watching *l)
{
	return l->number != WAYPOINT_UNWATCHED &&
	    (*directory_way_mark(w, l->number) > l->since ||
	    (job->kind == JOB_LIST &&
	    *directory_entry_mark(w, l->number) > l->since));
}

/* Whether an event was about what a job looks at, but for links that its reply
 * will name. */
static bool
saw_event(struct waypoints *w, const struct job *job, const struct watching *l)
{
	if (w->nevents == l->since)
		return false;
	return w->lost > l->since || saw_directory(w, job, l) ||
	    saw_own_names(w, job, l->since);
}

void
waypoints_stop_events(struct caches *caches)
{
	if (caches->waypoints != NULL)
		lock_acquire(caches->waypoints->lock);
}

void
waypoints_resume_events(struct caches *caches)
{
	if (caches->waypoints != NULL)
		lock_release(caches->waypoints->lock);
}

bool
waypoints_saw(struct caches *caches, const struct job *job,
    const struct watching *l)
{
	struct waypoints	*w = caches->waypoints;

	return w != NULL && job->find.watch != JOB_WATCH_NONE &&
	    (saw_event(w, job, l) || saw_waypoints(w, job, l->since));
}

bool
waypoints_may_join(struct caches *caches, const struct job *job,
    const struct watching *l)
{
	struct waypoints	*w = caches->waypoints;
	bool			 may;

	if (w == NULL || job->find.watch == JOB_WATCH_NONE)
		return true;
	lock_acquire(w->lock);
	may = w->hidden <= l->since && !saw_event(w, job, l);
	lock_release(w->lock);
	return may;
}

/* The part of a decoded target that a waypoint leads to. */
static struct str
cut_target(struct str decoded, size_t skip, const struct job_waypoint *from)
{
	size_t	len = skip + 1 + from->bytes;

	if (from->kind == JOB_WAYPOINT_DIRECTORY && from->bytes > 0)
		len++;
	return (struct str){ decoded.at, len < decoded.len ? len :
	    decoded.len };
}

/* A way that leads to a file but cannot be watched is not tried again. */
static void
note_unwatched(struct waypoints *w, const struct path *path,
    struct str decoded, struct waypoint *parent)
{
	const struct job_waypoint	none = { .number = WAYPOINT_UNWATCHED,
					    .kind = JOB_WAYPOINT_DIRECTORY };

	waypoint_note(w, path, waypoint_cut(decoded), &none, parent, false);
}

static bool
ends_absent(const struct job *job, uint32_t i)
{
	const struct job_waypoints	*all = &job->find.waypoints;

	return i == all->n - 1 && all->at[i].kind == JOB_WAYPOINT_BENEATH;
}

/* Whether a waypoint of a job can be noted: its directory is still watched, and
 * has room for it. */
static bool
is_notable(struct waypoints *w, const struct job *job, uint32_t i,
    uint64_t since)
{
	int	number = job->find.waypoints.at[i].number;

	return *directory_end_mark(w, number) <= since &&
	    (!ends_absent(job, i) ||
	    directory_hear(w, number)->absences < ABSENCES_MAX);
}

/* Notes the way up to the first waypoint that cannot be; false: there is one.
 * The directories behind it are heard of, and will not be watched. */
static bool
note_way(struct waypoints *w, const struct path *path, struct str decoded,
    size_t skip, const struct job *job, uint64_t since)
{
	const struct job_waypoints	*all = &job->find.waypoints;
	struct waypoint			*p = NULL;
	uint32_t			 i;

	w->ways++;
	for (i = 0; i < all->n && is_notable(w, job, i, since); i++)
		p = waypoint_note(w, path, cut_target(decoded, skip,
		    &all->at[i]), &all->at[i], p, ends_absent(job, i));
	for (uint32_t k = i; k < all->n; k++)
		if (*directory_end_mark(w, all->at[k].number) <= since)
			(void)directory_hear(w, all->at[k].number);
	if (i == all->n && job->find.watch == JOB_WATCH_WAY &&
	    job->error == 0 && job->find.watched == JOB_WATCHED_NOT &&
	    find_directory(w, path, decoded) == NULL)
		note_unwatched(w, path, decoded, p);
	if (p != NULL)
		waypoint_touch(w, p);
	return i == all->n;
}

/* Whether an answer can only change with an event.  A version that is not
 * strong becomes so by time alone; a program's is of no use. */
static bool
is_definite(const struct job *job)
{
	int	error = job->error;

	if (error == 0)
		return job->find.facts.strong || job_found_program(job);
	return error == ENOENT || error == ENOTDIR || error == EISDIR ||
	    error == EACCES || error == ESTALE || error == EFBIG;
}

/* Notes what an event in the directory must look for. */
static void
note_namespace(struct waypoint *p, uint32_t ns)
{
	p->kinds |= 1U << namespace_kind(ns);
	if (namespace_kind(ns) == NAMESPACE_LISTING)
		p->forms |= 1U << namespace_form(ns);
}

/* Whether the path's directory is watched, and was when the job looked. */
static bool
has_watched_directory(const struct waypoint *p, const struct job *job,
    uint64_t since)
{
	return p != NULL && p->directory != NULL &&
	    (job->find.watch == JOB_WATCH_WAY || p->since <= since);
}

bool
waypoints_end(struct caches *caches, const struct path *path,
    struct str decoded, size_t skip, const struct job *job,
    struct watching *l)
{
	struct waypoints	*w = caches->waypoints;
	struct waypoint		*p;
	bool			 watched;

	if (w == NULL || job->find.watch == JOB_WATCH_NONE)
		return false;
	if (job_found_program(job))	/* nothing is behind it */
		decoded.len = skip + 1 + job->resolve.split;
	lock_acquire(w->lock);
	watched = note_way(w, path, decoded, skip, job, l->since);
	TAILQ_REMOVE(&w->lookups, l, link);
	directory_end_unknown(w);
	keep_limit(w, job);
	p = find_directory(w, path, decoded);
	if (p != NULL)
		note_namespace(p, path->namespace);
	if (l->number == WAYPOINT_UNWATCHED)
		l->number = get_number(p);
	watched = watched && job->find.watched == JOB_WATCHED_ALL &&
	    has_watched_directory(p, job, l->since) && is_definite(job) &&
	    !saw_event(w, job, l) && !saw_waypoints(w, job, l->since);
	lock_release(w->lock);
	return watched;
}

void
waypoints_measure(const struct waypoints *w)
{
	if (w == NULL)
		return;
	lock_acquire(w->lock);
	stats_gauges[STATS_GAUGE_WATCHES] = (int64_t)w->directories;
	stats_gauges[STATS_GAUGE_WATCHES_LIMIT] = (int64_t)w->max;
	lock_release(w->lock);
}
