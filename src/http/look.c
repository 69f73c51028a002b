/*
 * look: what a helper is asked about a path, and what its answer makes of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "http/closing.h"
#include "http/listing.h"
#include "http/look.h"
#include "http/rules.h"
#include "http/space.h"
#include "http/uri.h"
#include "http/variant.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "stats.h"

/* A look on disk: an errand, and whose answer it is. */
struct look {
	struct errand		 errand;	/* first: casts rely on it */
	struct http		*http;
	struct path		*path;		/* held */
	size_t			 names_at;	/* in text */
	struct buf		 text;		/* decoded path, names, form */
};

/* What an errno of the disk says of a request; all others: it failed. */
static const struct {
	int		error;
	enum why	why;
} answers[] = {
	{ ENOENT, WHY_ABSENT }, { ENOTDIR, WHY_NOT_DIRECTORY },
	{ ENAMETOOLONG, WHY_NAME_LONG },
	{ EISDIR, WHY_NO_INDEX },
	{ EACCES, WHY_DENIED }, { EPERM, WHY_DENIED },
	{ EXDEV, WHY_LEAVES }, { ELOOP, WHY_LOOP },
	{ ENOTSUP, WHY_SPECIAL },	/* a FIFO, a socket, a device */
	{ EFBIG, WHY_HUGE },
	{ ETIMEDOUT, WHY_DISK_LATE },
	{ ECONNABORTED, WHY_DISK_BUSY }, { EMFILE, WHY_DISK_BUSY },
	{ ENFILE, WHY_DISK_BUSY }, { ENOMEM, WHY_DISK_BUSY },
	{ EAGAIN, WHY_DISK_BUSY },
};

enum why
look_why(int error)
{
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (answers[i].error == error)
			return answers[i].why;
	return WHY_DISK_FAILED;
}

static struct str
target(const struct path *p)
{
	return (struct str){ p->name, p->len };
}

/* The last name of what was found: the path's own, or that of an index. */
static const char *
found_name(const struct look *l)
{
	const char	*name = l->text.at + l->names_at;

	if (l->errand.job.which == 0)
		return l->text.at;
	for (unsigned i = 1; i < l->errand.job.which; i++)
		name += strlen(name) + 1;
	return name;
}

static bool
is_version(const struct path *p, const struct job_version *version)
{
	return p->kind == PATHNAME_FILE &&
	    memcmp(&p->file->version, version, sizeof(*version)) == 0;
}

/* Whether a look has found what the path had already. */
static bool
is_known(const struct path *p, const struct job *job)
{
	return job->same || (is_version(p, &job->version) &&
	    p->file->settled);
}

static void
take_found(struct look *l)
{
	struct job	*job = &l->errand.job;
	struct path	*p = l->path;
	struct http	*http = l->http;
	const char	*name = found_name(l), *slash = strrchr(name, '/');
	/* It may have changed without a trace; what cannot be read is told. */
	bool		 told = is_version(p, &job->version) && p->file->told;

	stats_add(STATS_COMPRESSIONS, job->kind == JOB_COMPRESS);
	pathname_answer(&http->store->paths, p, PATHNAME_FILE,
	    file_new(&http->store->files, job->fd, &job->version, &job->facts),
	    0, http->clock->ms);
	p->file->told = told;
	job->fd = -1;			/* the file's now */
	name = slash != NULL ? slash + 1 : name;
	p->type = job->kind == JOB_LIST ? listing_type(p->space) :
	    mime_type(http->store->mime, name, strlen(name));
}

static void
found_file(struct look *l)
{
	struct job	*job = &l->errand.job;
	struct path	*p = l->path;
	bool		 same = is_known(p, job);

	if (job->same && !is_version(p, &job->version))
		return;			/* another look has found a change */
	if (job->same)
		pathname_confirm(&l->http->store->paths, p, l->http->clock->ms);
	else
		take_found(l);
	if (space_kind(p->space) == SPACE_TARGET)
		variant_found(l->http, p, job->done, same);
}

/* EISDIR: without its slash, or one without an index; false: refused. */
static bool
found_directory(struct look *l)
{
	const struct job	*job = &l->errand.job;
	size_t			 len = strlen(job->path);
	enum pathname_kind	 kind = PATHNAME_LISTED;

	if (len > 0 && job->path[len - 1] != '/')
		kind = PATHNAME_DIRECTORY;
	else if (job->kind == JOB_LIST || !listing_on(l->path->rules))
		return false;
	pathname_answer(&l->http->store->paths, l->path, kind, NULL, 0,
	    l->http->clock->ms);
	return true;
}

/* Only the look failed: whether an older answer may stand for it. */
static bool
stands(const struct look *l)
{
	const struct job	*job = &l->errand.job;
	const struct http	*http = l->http;

	errno = job->error;
	if (!l->path->told)
		log_warn("cannot %s %s%s%s/%s", job->kind == JOB_COMPRESS ?
		    "compress" : "look at",
		    job->user != NULL ? job->user : "",
		    job->user != NULL ? ": " : "", job->root, job->path);
	l->path->told = true;
	return http->clock->ms - l->path->looked <= http->conf->cache.stale;
}

/*
 * It is done without it, and for a while not tried again, whatever it was; of
 * this version never, if it is not there or would not be smaller.
 */
static void
found_no_variant(struct look *l)
{
	struct path	*p = l->path;
	int		 error = l->errand.job.error;
	bool		 absent = error == ESTALE || error == EFBIG;

	if (absent)
		variant_absent(l->http, p);
	else if (why_status(look_why(error)) >= 500 && stands(l) &&
	    p->kind == PATHNAME_FILE)
		return;
	pathname_answer(&l->http->store->paths, p, PATHNAME_REFUSED, NULL, 404,
	    l->http->clock->ms);
}

/* The disk said no. */
static void
found_error(struct look *l)
{
	struct job	*job = &l->errand.job;
	struct path	*p = l->path;
	struct http	*http = l->http;
	int64_t		 now = http->clock->ms;
	enum why	 why = look_why(job->error);
	int		 status = why_status(why);

	if (job->error == EISDIR && found_directory(l))
		return;
	if (status >= 500) {
		if (stands(l) && p->kind != PATHNAME_UNKNOWN)
			return;
		now = PATHNAME_LONG_AGO;
	}
	pathname_answer(&http->store->paths, p, PATHNAME_REFUSED, NULL, status,
	    now);
	p->why = (uint8_t)why;
}

static void
look_done(struct errand *e)
{
	struct look	*l = (struct look *)e;

	l->path->errand = NULL;
	l->http->store->compressing -= e->job.kind == JOB_COMPRESS;
	if (e->job.error == ECANCELED)
		return;			/* nobody has looked */
	if (e->job.error == 0 &&
	    !file_fits(&l->http->store->files, &e->job.version))
		e->job.error = EFBIG;
	if (e->job.error == 0) {
		l->path->told = false;
		found_file(l);
	} else if (variant_is(l->path->space))
		found_no_variant(l);
	else
		found_error(l);
}

static void
look_free(struct errand *e)
{
	struct look	*l = (struct look *)e;

	pathname_release(&l->http->store->paths, &l->path);
	if (e->job.fd != -1)		/* refused for its size */
		closing_give(l->http->store, e->job.fd,
		    &e->job.version);
	buf_free(&l->text);
	free(l);
}

/* The version that the asker has, if a helper need not send it again. */
static void
set_known(struct job *job, const struct path *p)
{
	/* One that had just been changed may have been changed again since,
	 * within the same tick of the clock that stamps files. */
	if (p->kind != PATHNAME_FILE || !p->file->settled)
		return;
	if (p->file->fd == -1 && !chunk_whole(p->file))
		return;			/* its descriptor is wanted */
	job->known = true;
	job->version = p->file->version;
}

/* A name to be found: a file, or a directory by the first of its index. */
static void
resolve_job(struct job *job, const struct conf *conf, const struct path *p,
    struct buf *text)
{
	const struct conf_words	*index = rules_index(p->rules);
	size_t			 start = text->len, n;

	for (size_t i = 0; i < index->n; i++) {
		n = strlen(index->at[i]) + 1;
		if (text->len - start + n > JOB_PATH_MAX)
			break;
		buf_add(text, index->at[i], n);
	}
	job->names_len = text->len - start;
	if (job->kind == JOB_COMPRESS) {
		job->length = (uint64_t)conf->limits.compress;
		job->keep = conf->cache.variants;
	} else {
		variant_add_suffixes(text, p);
		job->length = variant_is(p->space);
	}
	job->names = text->at + start;
	job->beside = job->names + job->names_len;
	job->beside_len = text->len - start - job->names_len;
}

static enum job_kind
job_for(uint32_t space)
{
	return listing_is_page(space) ? JOB_LIST :
	    variant_is_made(space) ? JOB_COMPRESS : JOB_RESOLVE;
}

/* Where to look; returns how much of the text comes before the user. */
static size_t
place_job(struct job *job, const struct path *p, struct str decoded,
    struct buf *text)
{
	const struct conf_rules	*rules = p->rules;
	struct str		 user = rules_user(rules, decoded);
	size_t			 skip, at;

	job->root = rules_root(rules, decoded, &skip);
	job->links = (enum job_links)rules->links;
	/* The job's path is without its first slash. */
	buf_add(text, decoded.at + skip + 1, decoded.len - skip);
	at = text->len;
	if (user.at != NULL) {
		job->least = (uint32_t)rules->answer->users.from;
		buf_add(text, user.at, user.len);
		buf_addc(text, '\0');
	}
	return at;
}

/* A look at a decoded path, by the rules for it. */
static struct look *
look_new(struct http *http, struct path *p, struct str decoded)
{
	struct look	*l = mem_zero(sizeof(*l));
	struct job	*job = &l->errand.job;
	size_t		 user_at;

	job_init(job, job_for(p->space));
	job->id = ++http->store->next_job;
	user_at = place_job(job, p, decoded, &l->text);
	l->names_at = l->text.len;
	if (job->kind == JOB_LIST)
		listing_job(job, http->conf, p, decoded.at, &l->text);
	else
		resolve_job(job, http->conf, p, &l->text);
	job->path = l->text.at;
	if (user_at < l->names_at)
		job->user = l->text.at + user_at;
	set_known(job, p);
	l->http = http;
	l->path = p;
	l->errand.done = look_done;
	l->errand.free = look_free;
	http->store->compressing += job->kind == JOB_COMPRESS;
	stats_count(job->kind == JOB_LIST ? STATS_LISTS : STATS_LOOKS);
	return l;
}

struct errand *
look_start(struct http *http, struct path *p)
{
	struct look	*l;
	struct errand	*e;
	char		 decoded[JOB_PATH_MAX];
	size_t		 len;

	need(uri_resolve(target(p), decoded, sizeof(decoded), &len) ==
	    WHY_NONE);
	if (rules_answer(http, p, (struct str){ decoded, len }))
		return NULL;
	l = look_new(http, p, (struct str){ decoded, len });
	p->errand = &l->errand;
	cache_hold(&p->entry);
	http->disk.start(http->disk.context, &l->errand);
	e = p->errand;
	if (http->store->paths.anew)
		p->errand = NULL;	/* nobody else is to find it */
	return e;
}
