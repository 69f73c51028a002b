/*
 * tag: makes entity tags, and the tasks that make digests of files.
 *
 * Each response carries a tag and each cached head stores it, so a tag has 64
 * bits, in digits of six bits.
 */
#include <errno.h>
#include <stdlib.h>

#include "cache/digest.h"
#include "http/namespace.h"
#include "http/tag.h"
#include "http/tasks.h"
#include "http/variants/variant.h"
#include "lib/hash.h"
#include "lib/mem.h"
#include "stats/stats.h"

#define DIGITS	11

static const char tag_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    "abcdefghijklmnopqrstuvwxyz0123456789-_";

/* A task that reads a slice of a file. */
struct digest_task {
	struct task		 task;	/* first member: casts rely on it */
	struct http_loop	*http;
	struct file		*file;	/* referred to; descriptor held */
};

/* The number of a page is that of its text on each machine.  A filter may make
 * something else of the same file the next time, so its bytes count. */
static enum conf_etag
etag_of(const struct path *p)
{
	const struct conf_rules	*rules = p->rules;

	if (variant_has_query(p->namespace))
		return ETAG_CONTENT;
	return namespace_get(p->namespace)->undated ? ETAG_VERSION :
	    (enum conf_etag)rules->etag;
}

bool
tag_needs_digest(const struct conf *conf, const struct path *p,
    const struct job_version *version)
{
	return etag_of(p) == ETAG_CONTENT &&
	    version->size <= conf->limits.digest;
}

bool
tag_wants_digest(const struct request *r)
{
	return r->info.kind == PATHNAME_FILE &&
	    (r->info.variants & PATHNAME_BY_CONTENT) != 0 &&
	    !digest_is_known(r->file);
}

static void
complete_digest(struct task *e)
{
	struct digest_task	*d = (struct digest_task *)e;
	int			 error = e->job.error;

	if (!d->http->caches->shared)
		*digest_task(d->file) = NULL;
	if (error == 0)
		digest_add(d->file, e->job.range.offset, e->job.digest.sum);
	else if (error != ECANCELED)
		digest_set_error(d->file, error);
}

static void
free_digest(struct task *e)
{
	struct digest_task	*d = (struct digest_task *)e;

	file_release(d->file);
	file_drop(&d->file);
	free(d);
}

static enum submitted
submit_digest(struct http_loop *http, struct digest_task *d)
{
	struct job	*job = &d->task.job;

	tasks_init(http, &d->task, JOB_DIGEST, complete_digest, free_digest);
	job->fd = file_hold(d->file);
	job->range.offset = digest_next(d->file, &job->range.length);
	job->range.version = *d->file->open_file->version;
	job->digest.has_version = !file_is_made(d->file);
	stats_count(STATS_DIGESTS);
	return tasks_submit(http, &d->task);
}

struct task *
tag_start_digest(struct http_loop *http, struct file *f)
{
	struct task		**pending = http->caches->shared ? NULL :
				    digest_task(f);
	struct digest_task	*d;

	if (pending != NULL && *pending != NULL)
		return *pending;
	digest_set_error(f, 0);
	d = mem_zero(sizeof(*d));
	d->http = http;
	d->file = file_refer(f);
	if (pending != NULL)
		*pending = &d->task;
	return submit_digest(http, d) == SUBMITTED_PENDING ? &d->task : NULL;
}

/* Numbers of another kind differ by their count.  A variant is another file, or
 * has another size, but for chance, which the kind of its name rules out. */
static uint64_t
hash_version(const struct request *r)
{
	/* The key is no secret: a file has the same tag after a restart. */
	static const struct hash_key	key = { 0, 0 };
	const struct job_version	*v = &r->file->version;
	const uint64_t	facts[] = { v->dev, v->ino, (uint64_t)v->size,
	    (uint64_t)v->mtime, v->mtime_ns, (uint64_t)v->ctime, v->ctime_ns };
	const uint64_t	common[] = { namespace_kind(r->path->namespace) |
	    (uint64_t)language_number(r->path->namespace) <<
	    NAMESPACE_KIND_BITS,
	    (uint64_t)v->size, (uint64_t)v->mtime };
	uint64_t	content[2] = { common[0] };

	if ((r->info.variants & PATHNAME_BY_CONTENT) != 0) {
		content[1] = digest_get(r->file);
		return hash_bytes(&key, 0, content, sizeof(content));
	}
	return etag_of(r->path) == ETAG_VERSION ||
	    variant_has_query(r->path->namespace) ?
	    hash_bytes(&key, common[0], facts, sizeof(facts)) :
	    hash_bytes(&key, 0, common, sizeof(common));
}

/* Whether equal tags mean equal bytes; a result that is too large for a digest
 * has the tag of its version. */
static bool
is_strong(const struct request *r)
{
	return r->file->strong && (!variant_has_query(r->path->namespace) ||
	    (r->info.variants & PATHNAME_BY_CONTENT) != 0);
}

size_t
tag_write(const struct request *r, char etag[TAG_MAX])
{
	uint64_t	bits = hash_version(r);
	size_t		n = 0;

	if (!is_strong(r)) {
		etag[n++] = 'W';
		etag[n++] = '/';
	}
	etag[n++] = '"';
	for (int i = 0; i < DIGITS; i++, bits >>= 6)
		etag[n++] = tag_digits[bits & 63];
	etag[n++] = '"';
	etag[n] = '\0';
	return n;
}
