/*
 * find: what the target of a request is, by the pathname cache; a helper looks
 * at what is not there or no longer fresh.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http/conn.h"
#include "http/find.h"
#include "http/listing.h"
#include "http/reply.h"
#include "http/rules.h"
#include "http/uri.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "stats.h"

#define LONG_AGO	(-((int64_t)1 << 40))	/* clock ms: expired at once */

/* A look on disk: an errand, and whose answer it is. */
struct look {
	struct errand		 errand;	/* first: casts rely on it */
	struct http		*http;
	struct path		*path;		/* held */
	size_t			 names_at;	/* in text */
	struct buf		 text;		/* decoded path, names, form */
};

/* How an errno of the disk looks to a client; all others are 500. */
static const struct {
	int	error, status;
} answers[] = {
	{ ENOENT, 404 }, { ENOTDIR, 404 }, { ENAMETOOLONG, 404 },
	{ EISDIR, 403 },		/* a directory without an index */
	{ EACCES, 403 }, { EPERM, 403 }, { EXDEV, 403 }, { ELOOP, 403 },
	{ ENOTSUP, 403 },		/* a FIFO, a socket, a device */
	{ ECONNABORTED, 503 }, { EMFILE, 503 }, { ENFILE, 503 },
	{ ENOMEM, 503 }, { EAGAIN, 503 }, { ETIMEDOUT, 503 },
};

int
find_status(int error)
{
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (answers[i].error == error)
			return answers[i].status;
	return 500;
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

static void
found_file(struct look *l)
{
	struct job	*job = &l->errand.job;
	struct path	*p = l->path;
	struct http	*http = l->http;
	const char	*name = found_name(l), *slash = strrchr(name, '/');

	if (job->same) {
		p->looked = http->clock->ms;
		return;
	}
	pathname_answer(&http->paths, p, PATHNAME_FILE,
	    file_new(&http->files, job->fd, &job->version, &job->facts), 0,
	    http->clock->ms);
	job->fd = -1;			/* the file's now */
	name = slash != NULL ? slash + 1 : name;
	p->type = job->kind == JOB_LIST ? listing_type(p->space) :
	    mime_type(http->mime, name, strlen(name));
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
	pathname_answer(&l->http->paths, l->path, kind, NULL, 0,
	    l->http->clock->ms);
	return true;
}

/* The disk said no.  When only the look failed, an older answer stands. */
static void
found_error(struct look *l)
{
	struct job	*job = &l->errand.job;
	struct path	*p = l->path;
	struct http	*http = l->http;
	int64_t		 now = http->clock->ms;
	int		 status = find_status(job->error);

	if (job->error == EISDIR && found_directory(l))
		return;
	if (status >= 500) {
		errno = job->error;
		log_warn("cannot look at %s/%s", job->root, job->path);
		if (p->kind != PATHNAME_UNKNOWN &&
		    now - p->looked <= http->conf->cache.stale)
			return;
		now = LONG_AGO;
	}
	pathname_answer(&http->paths, p, PATHNAME_REFUSED, NULL, status, now);
}

static void
look_done(struct errand *e)
{
	struct look	*l = (struct look *)e;

	l->path->errand = NULL;
	if (e->job.error == 0)
		found_file(l);
	else
		found_error(l);
}

static void
look_free(struct errand *e)
{
	struct look	*l = (struct look *)e;

	pathname_release(&l->http->paths, &l->path);
	if (e->job.fd != -1)
		close(e->job.fd);
	buf_free(&l->text);
	free(l);
}

/* The version that the asker has, if a helper need not send it again. */
static void
set_known(struct job *job, const struct path *p)
{
	/* One that had just been changed may have been changed again since,
	 * within the same tick of the clock that stamps files. */
	if (p->kind != PATHNAME_FILE || !p->file->facts.settled)
		return;
	if (p->file->fd == -1 && !chunk_whole(p->file))
		return;			/* its descriptor is wanted */
	job->known = true;
	job->version = p->file->version;
}

/* A name to be found: a file, or a directory by the first of its index. */
static void
resolve_job(struct job *job, const struct path *p, struct buf *text)
{
	const struct conf_words	*index = rules_index(p->rules);
	size_t			 start = text->len, n;

	for (size_t i = 0; i < index->n; i++) {
		n = strlen(index->at[i]) + 1;
		if (text->len - start + n > JOB_PATH_MAX)
			break;
		buf_add(text, index->at[i], n);
	}
	job->names = text->at + start;
	job->names_len = text->len - start;
}

/* A look at a decoded path, by the rules for it. */
static struct look *
look_new(struct http *http, struct path *p, const char *decoded, size_t len)
{
	struct look	*l = mem_zero(sizeof(*l));
	struct job	*job = &l->errand.job;
	bool		 is_page = listing_is_page(p->space);
	size_t		 skip;

	job_init(job, is_page ? JOB_LIST : JOB_RESOLVE);
	job->id = ++http->next_job;
	job->root = rules_root(p->rules, &skip);
	/* The job's path is without its first slash. */
	buf_add(&l->text, decoded + skip + 1, len - skip);
	l->names_at = l->text.len;
	if (is_page)
		listing_job(job, http->conf, p, decoded, &l->text);
	else
		resolve_job(job, p, &l->text);
	job->path = l->text.at;
	set_known(job, p);
	l->http = http;
	l->path = p;
	l->errand.done = look_done;
	l->errand.free = look_free;
	stats[is_page ? STATS_LISTS : STATS_LOOKS]++;
	return l;
}

/* Starts a look; p->errand is set unless it was done in place. */
static void
look_start(struct http *http, const struct conf_site *site, struct path *p)
{
	struct look	*l;
	char		 decoded[JOB_PATH_MAX];
	size_t		 len;

	need(uri_resolve(target(p), decoded, sizeof(decoded), &len) == 0);
	if (rules_answer(http, site, p, (struct str){ decoded, len }))
		return;
	l = look_new(http, p, decoded, len);
	p->errand = &l->errand;
	cache_hold(&p->entry);
	http->disk.start(http->disk.context, &l->errand);
}

/* Holds the path of a request's target; 0, or the status of a bad one. */
static int
hold_path(struct conn *c)
{
	struct request		*r = c->request;
	struct pathname_cache	*paths = &c->http->paths;
	uint32_t		 space = (uint32_t)r->site->number;
	struct str		 raw = r->instead != NULL ? str_of(r->instead) :
				    parse_str(c->input, r->parse.path);
	char			 decoded[JOB_PATH_MAX];
	size_t			 len;
	int			 status;

	r->path = pathname_hold(paths, space, raw);
	if (r->path != NULL)
		return 0;
	status = uri_resolve(raw, decoded, sizeof(decoded), &len);
	if (status == 0)
		r->path = pathname_add(paths, space, raw);
	return status;
}

enum freshness { FRESH, STALE, ROTTEN };

static enum freshness
freshness(const struct conn *c, const struct path *p)
{
	const struct conf	*conf = c->http->conf;
	int64_t			 age = c->http->clock->ms - p->looked;
	bool			 absent = p->kind == PATHNAME_REFUSED;

	if (p->kind == PATHNAME_UNKNOWN)
		return ROTTEN;
	if (p->kind == PATHNAME_FILE && p->file->fd == -1 &&
	    !chunk_whole(p->file))
		return ROTTEN;		/* nothing left to send it from */
	if (c->request->looked || age <= (absent ?
	    conf->cache.negative : conf->cache.revalidate))
		return FRESH;
	/* Who has just put a file there is not to hear that it is not. */
	return !absent && age <= conf->cache.stale ? STALE : ROTTEN;
}

/* The version that this response is made from, whatever comes after it. */
static enum go
take_file(struct conn *c)
{
	struct request	*r = c->request;

	r->file = file_refer(r->path->file);
	if (r->file->fd != -1) {
		file_hold(r->file);
		r->file_open = true;
	} else if (r->file->nchunks > 0)
		r->chunk = chunk_hold(&c->http->chunks, r->file, 0);
	return conn_go(c, STEP_HEAD);
}

static enum go
take_answer(struct conn *c)
{
	struct request		*r = c->request;
	const struct path	*p = r->path;
	const char		*fallback;

	if (p->kind == PATHNAME_FILE)
		return take_file(c);
	if (r->instead != NULL)		/* no page, and none for a page */
		return reply_error(c, p->kind == PATHNAME_REFUSED &&
		    p->status >= 500 ? p->status : 404);
	if (p->kind == PATHNAME_LISTED)
		return listing_take(c);
	if (p->kind != PATHNAME_REFUSED)
		return reply_redirect(c);
	fallback = rules_fallback(p);
	if (fallback != NULL)
		return find_instead(c, fallback, 0);
	return reply_error(c, p->status);
}

/* The page for a disk that takes too long may itself be on that disk. */
static bool
late(const struct conn *c)
{
	return c->request->disk_by != 0 &&
	    c->http->clock->ms >= c->request->disk_by;
}

enum go
find_step(struct conn *c)
{
	struct request	*r = c->request;
	struct path	*p;
	int		 status;

	if (conn_outcome(c) != OUTCOME_READY) {
		stats[STATS_DISK_TIMEOUTS]++;
		return reply_error(c, 503);
	}
	/* Nothing to be found, but for the page of a failure. */
	if (r->parse.method == METHOD_OPTIONS && r->failure == 0)
		return reply_options(c);
	if (r->path == NULL && (status = hold_path(c)) != 0)
		return reply_error(c, status);
	p = r->path;
	switch (freshness(c, p)) {
	case FRESH:
		break;
	case STALE:		/* good enough, while a helper looks */
		if (p->errand == NULL)
			look_start(c->http, r->site, p);
		break;
	case ROTTEN:
		if (r->tries++ == REQUEST_TRIES || late(c))
			return reply_error(c, 503);
		r->looked = true;
		if (p->errand == NULL)
			look_start(c->http, r->site, p);
		if (p->errand != NULL)
			return conn_wait_disk(c, p->errand);
		return GO_ON;		/* it was done in place */
	}
	return take_answer(c);
}

void
find_expire(struct conn *c)
{
	struct request	*r = c->request;

	if (r != NULL && r->path != NULL && r->path->file == r->file)
		r->path->looked = LONG_AGO;
}

enum go
find_again(struct conn *c)
{
	struct request	*r = c->request;

	if (r->tries++ == REQUEST_TRIES)
		return reply_error(c, 500);
	find_expire(c);
	conn_request_reset(c);
	r->looked = false;
	return conn_go(c, STEP_FIND);
}

enum go
find_instead(struct conn *c, const char *page, int failure)
{
	struct request	*r = c->request;

	r->rules = rules_of(r);
	conn_request_reset(c);
	if (r->path != NULL)
		pathname_release(&c->http->paths, &r->path);
	r->instead = page;
	r->failure = (uint16_t)failure;
	r->looked = false;
	r->tries = 0;
	return conn_go(c, STEP_FIND);
}
