/*
 * waypoints: tells the job of a lookup what to watch, and afterwards notes what
 * is watched now, and whether an event was about it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "helpers/notify.h"
#include "http/http.h"
#include "http/namespace.h"
#include "http/watch/waypoint.h"
#include "http/watch/waypoints.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "proto/uri.h"
#include "stats/stats.h"

#define BUCKETS_MAX	65536
#define EVICT_SHARE	8		/* one in so many goes at once */
/* A link at the end of a path has waypoints of its own in a directory. */
#define PER_DIRECTORY	4

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
	w->by_target = mem_array(n, sizeof(w->by_target[0]));
	TAILQ_INIT(&w->active);
	TAILQ_INIT(&w->leaving);
	hash_key_random(&w->key);
	w->schedule = caches->files.schedule_tidy;
	w->schedule_context = caches->files.schedule_context;
	return w;
}

static void
free_queue(struct waypoint_queue *queue)
{
	struct waypoint	*p;

	while ((p = TAILQ_FIRST(queue)) != NULL) {
		TAILQ_REMOVE(queue, p, age);
		free(p);
	}
}

void
waypoints_free(struct waypoints **wp)
{
	struct waypoints	*w = *wp;

	if (w == NULL)
		return;
	free_queue(&w->active);
	free_queue(&w->leaving);
	free(w->by_number);
	free(w->by_target);
	lock_free(&w->lock);
	mem_drop(wp);
}

static bool
is_over(const struct waypoints *w)
{
	return w->directories > w->max ||
	    w->n > w->max * PER_DIRECTORY;
}

static void
log_full(struct waypoints *w, const char *which)
{
	if (w->full)
		return;
	w->full = true;
	log_notice("%s of %zu watched directories is reached: those not looked "
	    "at for longest are watched no more, and \"revalidate\" holds for "
	    "their files", which, w->max);
}

/* The oldest go, if no others are about to. */
static void
evict_oldest(struct waypoints *w)
{
	struct waypoint	*p;

	if (!TAILQ_EMPTY(&w->leaving))
		return;
	for (size_t n = w->n / EVICT_SHARE + 1; n > 0; n--) {
		p = TAILQ_FIRST(&w->active);
		if (p == NULL)
			break;
		waypoint_leave(w, p, WAYPOINT_EVICTED);
	}
}

static void
keep_limit(struct waypoints *w, const struct job *job)
{
	if (job->find.watched == JOB_WATCHED_FULL) {
		log_full(w, "the system's limit "
		    "(fs.inotify.max_user_watches)");
		evict_oldest(w);
	} else if (is_over(w)) {
		log_full(w, "the limit");
		evict_oldest(w);
	}
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
			    namespace_site(path->namespace),
			    JOB_WAYPOINT_DIRECTORY, waypoint_cut(decoded));

	return p != NULL && p->state == WAYPOINT_ACTIVE && !p->doubtful ? p :
	    NULL;
}

uint64_t
waypoints_begin(struct caches *caches, const struct path *path,
    struct str decoded, struct job *job)
{
	struct waypoints	*w = caches->waypoints;
	struct waypoint		*p;
	uint64_t		 n;

	if (w == NULL || job->find.user != NULL || !is_plain(path, decoded))
		return 0;
	lock_acquire(w->lock);
	n = w->nevents;
	p = find_directory(w, path, decoded);
	w->pending += p == NULL || p->number != WAYPOINT_UNWATCHED;
	job->find.watch = p == NULL ? JOB_WATCH_WAY :
	    p->number == WAYPOINT_UNWATCHED ? JOB_WATCH_NONE : JOB_WATCH_END;
	if (p != NULL)
		waypoint_touch(w, p);
	lock_release(w->lock);
	return n;
}

static bool
hashes_to(uint32_t hash, struct str name, const char *suffix)
{
	char	text[JOB_PATH_MAX];

	if (name.len + strlen(suffix) >= sizeof(text))
		return true;
	memcpy(text, name.at, name.len);
	strcpy(text + name.len, suffix);
	return notify_hash(text) == hash;
}

/* Whether a name is one that the job looks at, alone or with a suffix. */
static bool
looks_at(const struct job *job, uint32_t hash, struct str name)
{
	struct str	all = { NULL, 0 };

	if (hashes_to(hash, name, ""))
		return true;
	if (job->kind == JOB_RESOLVE)
		all = job->resolve.siblings;
	for (size_t at = 0; at < all.len; at += strlen(all.at + at) + 1)
		if (hashes_to(hash, name, all.at + at))
			return true;
	return false;
}

/* Whether an entry is on the job's path, or one of its names. */
static bool
concerns(const struct job *job, uint32_t hash)
{
	struct str	 names = job->find.names, one;
	const char	*path = job->find.path;

	if (job->kind == JOB_LIST)
		return true;
	while (*path != '\0') {
		one = (struct str){ path, strcspn(path, "/") };
		if (looks_at(job, hash, one))
			return true;
		path += one.len;
		path += strspn(path, "/");
	}
	for (size_t at = 0; at < names.len; at += one.len + 1) {
		one = str_of(names.at + at);
		if (looks_at(job, hash, one))
			return true;
	}
	return false;
}

static bool
saw_event(const struct waypoints *w, const struct job *job, uint64_t since)
{
	if (w->all_changed > since || w->nevents - since >= WAYPOINT_EVENTS_MAX)
		return true;
	for (uint64_t n = since + 1; n <= w->nevents; n++)
		if (concerns(job, w->events[n % WAYPOINT_EVENTS_MAX].name))
			return true;
	return false;
}

bool
waypoints_saw(struct caches *caches, const struct job *job, uint64_t since)
{
	struct waypoints	*w = caches->waypoints;
	bool			 saw;

	if (w == NULL || job->find.watch == JOB_WATCH_NONE)
		return false;
	lock_acquire(w->lock);
	saw = saw_event(w, job, since);
	lock_release(w->lock);
	return saw;
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

/* A way that cannot be watched is not tried again. */
static void
note_unwatched(struct waypoints *w, uint32_t site, struct str decoded,
    struct waypoint *parent)
{
	const struct job_waypoint	none = { .number = WAYPOINT_UNWATCHED,
					    .kind = JOB_WAYPOINT_DIRECTORY };

	waypoint_note(w, site, waypoint_cut(decoded), &none, parent);
}

static void
note_way(struct waypoints *w, const struct path *path, struct str decoded,
    size_t skip, const struct job *job)
{
	const struct job_waypoints	*all = &job->find.waypoints;
	uint32_t			 site = namespace_site(path->namespace);
	struct waypoint			*p = NULL;

	w->ways++;
	for (uint32_t i = 0; i < all->n; i++)
		p = waypoint_note(w, site, cut_target(decoded, skip,
		    &all->at[i]), &all->at[i], p);
	if (job->find.watch == JOB_WATCH_WAY &&
	    job->find.watched == JOB_WATCHED_NOT &&
	    find_directory(w, path, decoded) == NULL)
		note_unwatched(w, site, decoded, p);
	if (p != NULL)
		waypoint_touch(w, p);
}

/* Whether an answer can only change with an event.  A version that is not
 * strong becomes so by time alone. */
static bool
is_definite(const struct job *job)
{
	int	error = job->error;

	if (error == 0)
		return job->find.facts.strong;
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

bool
waypoints_end(struct caches *caches, const struct path *path,
    struct str decoded, size_t skip, const struct job *job, uint64_t since)
{
	struct waypoints	*w = caches->waypoints;
	struct waypoint		*p;
	bool			 watched;

	if (w == NULL || job->find.watch == JOB_WATCH_NONE)
		return false;
	lock_acquire(w->lock);
	w->pending--;
	if (w->removed <= since && job->error != ECANCELED) {
		note_way(w, path, decoded, skip, job);
		keep_limit(w, job);
	}
	p = find_directory(w, path, decoded);
	if (p != NULL)
		note_namespace(p, path->namespace);
	watched = job->find.watched == JOB_WATCHED_ALL && p != NULL &&
	    p->number != WAYPOINT_UNWATCHED && is_definite(job) &&
	    !saw_event(w, job, since);
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
