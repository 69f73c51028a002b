/*
 * lookup_result: notes in the caches what a lookup has found; and pending
 * lookups.
 */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "cache/digest.h"
#include "cache/guests.h"
#include "cache/keep.h"
#include "http/lookup_private.h"
#include "http/namespace.h"
#include "http/rules.h"
#include "http/variants/filtered.h"
#include "http/variants/language.h"
#include "http/variants/variant.h"
#include "http/watch/passes.h"
#include "lib/log.h"
#include "stats/stats.h"

struct str
lookup_result_name(const struct path *p)
{
	return (struct str){ p->name, p->len };
}

/* Adds the path of the file: with an index file's name, or with a suffix. */
static void
add_found_path(const struct lookup *l, struct buf *to)
{
	buf_adds(to, l->text.at);
	buf_adds(to, job_found_name(&l->task.job));
}

/* The time of the result.  Lookups of several threads may overtake each other,
 * so with shared caches the time of submission counts. */
int64_t
lookup_result_time(const struct lookup *l)
{
	int64_t	at = l->http->caches->shared ? l->started_at :
		    l->http->clock->ms;

	if (l->outdated)
		return passes_old(l->http);
	return l->watched ? at + PATHNAME_WATCHED_MS : at;
}

/* The end of what a helper may read; of a listing the directory itself; of a
 * program its file. */
static uint16_t
get_denied(const struct job *job)
{
	if (job_found_program(job))
		return (uint16_t)job->resolve.split;
	if (job->error != EACCES)
		return 0;
	return (uint16_t)(job->kind == JOB_RESOLVE ? job->find.denied :
	    strlen(job->find.path));
}

void
lookup_result_set(const struct lookup *l, enum pathname_kind kind, int status,
    enum why why)
{
	path_info_set(&l->http->caches->paths, l->path, &(struct path_info){
	    .kind = (uint8_t)kind, .status = (uint16_t)status,
	    .why = (uint8_t)why, .denied = get_denied(&l->task.job),
	    .checked_at = lookup_result_time(l), .watched = l->watched });
}

const char *
lookup_result_type(const struct http_loop *http, const struct path *p,
    const char *decoded, uint16_t *blocks)
{
	const struct conf_site	*site = &http->conf->sites[namespace_site(
				    p->namespace)];
	const char		*slash = strrchr(decoded, '/'), *type;
	const char		*name = slash != NULL ? slash + 1 : decoded;

	*blocks = rules_blocks(site, name);
	type = rules_type(site, *blocks);
	return type != NULL ? type :
	    mime_type(http->caches->mime, name, strlen(name));
}

/* Sets what follows from the file's name: its media type, and the blocks files
 * that have fields for it. */
void
lookup_result_set_type(const struct lookup *l, struct path_info *a)
{
	struct buf	path = { 0 };

	add_found_path(l, &path);
	language_cut(l->path, &path);
	a->type = lookup_result_type(l->http, l->path, buf_string(&path),
	    &a->blocks);
	buf_free(&path);
}

/* Whether the conf keeps files of this path.  Clients could ask for one file by
 * any number of spellings, which are paths of their own: one is kept. */
static bool
must_keep(const struct lookup *l)
{
	const struct conf_words	*keep = &l->http->conf->cache.keep;
	char			 decoded[JOB_PATH_MAX];
	size_t			 i = 0;

	if (keep->n == 0)
		return false;
	rules_decode(l->path, decoded);
	while (i < keep->n && fnmatch(keep->at[i], decoded, 0) != 0)
		i++;
	return i < keep->n && rules_is_usual(l->path);
}

static void
warn_unkept(const struct http_loop *http, int error)
{
	if (!log_is_due(&http->caches->unkept_warned_at, http->clock->ms))
		return;
	errno = error;
	log_warn("cache { variants %s }: cannot keep a compressed file, which "
	    "is in memory only", http->conf->cache.variants);
}

void
lookup_result_take_file(struct lookup *l, struct path_info *a, uint16_t tried)
{
	struct job	*job = &l->task.job;
	struct caches	*caches = l->http->caches;
	bool		 keep = must_keep(l);

	stats_add(STATS_COMPRESSIONS, job->kind == JOB_COMPRESS);
	if (job->kind == JOB_COMPRESS && job->compress.unkept != 0)
		warn_unkept(l->http, (int)job->compress.unkept);
	a->file = ((a->variants & PATHNAME_BY_CONTENT) != 0 ?
	    file_new_with_digest : file_new)(&caches->files, job->fd,
	    &job->find.version, &job->find.facts);
	job->fd = -1;			/* the file owns it */
	if (keep)
		keep_file(a->file);
	if (filtered_has_query(l->path))
		guests_take_file(a->file);
	path_info_found(&caches->paths, l->path, a, tried);
	if (keep)
		keep_path(&caches->paths, l->path);
}

static void
log_failure(const struct lookup *l)
{
	const struct job	*job = &l->task.job;
	const struct job_find	*f = &job->find;

	if (job->kind == JOB_COMPRESS && job->error == EAGAIN) {
		log_info("no variant made: the file has changed while it was "
		    "being compressed");
		return;
	}
	errno = job->error;
	log_warn("cannot %s %s%s%s/%s", job->kind == JOB_COMPRESS ?
	    "compress" : "look up", f->user != NULL ? f->user : "",
	    f->user != NULL ? ": " : "", f->root, f->path);
}

/* Notes a failed lookup.  An older result of these kinds is used on. */
void
lookup_result_set_failure(const struct lookup *l, int status, enum why why,
    int64_t looked, unsigned kinds)
{
	const struct http_loop	*http = l->http;

	if (path_info_fail(&http->caches->paths, l->path, &(struct path_info){
	    .kind = PATHNAME_REFUSED, .status = (uint16_t)status,
	    .why = (uint8_t)why, .checked_at = looked },
	    http->clock->ms - http->conf->cache.stale, kinds))
		log_failure(l);
}

/* Takes a variant that cannot be had out of its file's variants. */
static void
withdraw_variant(struct pathname_cache *paths, uint32_t ns, struct str name)
{
	struct path	*p = pathname_hold(paths, variant_base(ns), name);

	if (p == NULL)
		return;
	path_info_drop_variants(paths, p, (uint16_t)variant_bit(ns));
	pathname_release(paths, &p);
}

/*
 * Notes that a variant cannot be had; the file is served without it.  Other
 * attempts follow later, but none with this version if there is no variant or
 * it would not be smaller.
 */
void
lookup_result_set_no_variant(struct lookup *l)
{
	int	error = l->task.job.error;
	bool	absent = error == ESTALE || error == EFBIG ||
		    job_found_program(&l->task.job) || (error == ENOENT &&
		    namespace_kind(l->path->namespace) == NAMESPACE_TARGET);

	if (absent)
		withdraw_variant(&l->http->caches->paths, l->path->namespace,
		    lookup_result_name(l->path));
	if (absent || why_status(why_of_error(error)) < 500)
		lookup_result_set(l, PATHNAME_REFUSED, 404, WHY_NONE);
	else
		lookup_result_set_failure(l, 404, WHY_NONE,
		    lookup_result_time(l), 1U << PATHNAME_FILE);
}

/*
 * Pending lookups are hashed by path and not members of the path: of all paths
 * few are looked up at a time.
 */
static struct lookup_list *
get_bucket(struct http_loop *http, const struct path *p)
{
	return &http->lookups[(uintptr_t)p / sizeof(*p) % LOOKUP_BUCKETS];
}

struct lookup *
lookup_result_find_pending(struct http_loop *http, const struct path *p)
{
	struct lookup	*l;

	LIST_FOREACH(l, get_bucket(http, p), link)
		if (l->path == p)
			break;
	return l;
}

void
lookup_result_publish(struct lookup *l)
{
	LIST_INSERT_HEAD(get_bucket(l->http, l->path), l, link);
	l->published = true;
}

void
lookup_result_withdraw(struct lookup *l)
{
	if (l->published)
		LIST_REMOVE(l, link);
	l->published = false;
}
