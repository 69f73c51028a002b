/*
 * find: what the target of a request is, by the pathname cache; a helper looks
 * at what is not there or no longer fresh.
 */
#include "http/conn.h"
#include "http/counts.h"
#include "http/find.h"
#include "http/listing.h"
#include "http/look.h"
#include "http/reply.h"
#include "http/rules.h"
#include "http/space.h"
#include "http/variant.h"
#include "lib/rare.h"
#include "stats.h"

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
		r->chunk = chunk_hold(&c->http->store->chunks, r->file, 0);
	return conn_go(c, STEP_HEAD);
}

/* The file itself, or that variant of it that its client wants most. */
static enum go
take_best(struct conn *c)
{
	uint32_t	space;

	if (c->request->path->variants == 0)
		return take_file(c);
	switch (variant_wanted(c, &space)) {
	case VARIANT_TAKE:
		return find_beside(c, space);
	case VARIANT_NONE_FITS:
		return reply_error(c, reply_why(c, WHY_CODING));
	default:
		return take_file(c);
	}
}

/* It cannot be had, or not in time: then the file itself. */
static RARE enum go
without_variant(struct conn *c)
{
	struct request	*r = c->request;

	r->plain = true;
	r->disk_by = 0;
	return find_beside(c, space_site(r->path->space));
}

static enum go
take_answer(struct conn *c)
{
	struct request		*r = c->request;
	const struct path	*p = r->path;
	const char		*fallback;

	if (p->kind == PATHNAME_FILE)
		return take_best(c);
	if (variant_is(p->space))
		return without_variant(c);
	reply_why(c, p->why);
	if (r->instead != NULL)		/* no page, and none for a page */
		return reply_error(c, p->kind == PATHNAME_REFUSED &&
		    p->status >= 500 ? p->status : 404);
	if (p->kind == PATHNAME_LISTED)
		return listing_take(c);
	if (p->kind == PATHNAME_COUNTS)
		return counts_take(c);
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

/* What takes a helper for long has to wait for room. */
static bool
may_look(const struct http *http, const struct path *p)
{
	return !variant_is_made(p->space) || http_has_room(http);
}

/* Its answer is good for who has waited for it, however old by then. */
static RARE enum go
look_first(struct conn *c, struct path *p)
{
	struct errand	*e = p->errand != NULL ? p->errand :
			    look_start(c->http, p);
	enum go		 go = GO_ON;	/* it was done in place */

	if (e != NULL)
		go = conn_wait_disk(c, e);
	c->request->looked = e == NULL || go == GO_WAIT;
	return go;
}

enum go
find_step(struct conn *c)
{
	struct request	*r = c->request;
	struct path	*p;
	enum outcome	 outcome = conn_outcome(c);

	if (outcome != OUTCOME_READY) {
		stats_count(STATS_DISK_TIMEOUTS);
		return outcome == OUTCOME_TIMED_OUT && r->path != NULL &&
		    variant_is(r->path->space) ? without_variant(c) :
		    reply_error(c, reply_why(c, WHY_DISK_LATE));
	}
	/* Nothing to be found, but for the page of a failure. */
	if (r->parse.method == METHOD_OPTIONS && r->failure == 0)
		return reply_options(c);
	p = r->path;
	switch (freshness(c, p)) {
	case FRESH:
		break;
	case STALE:		/* good enough, while a helper looks */
		if (p->errand == NULL && may_look(c->http, p))
			look_start(c->http, p);
		break;
	case ROTTEN:
		if (r->tries++ == REQUEST_TRIES || late(c))
			return reply_error(c, reply_why(c, late(c) ?
			    WHY_DISK_LATE : WHY_RESTLESS));
		if (p->errand == NULL && !may_look(c->http, p))
			return without_variant(c);
		return look_first(c, p);
	}
	return take_answer(c);
}

void
find_expire(struct conn *c)
{
	struct request	*r = c->request;

	if (r != NULL && r->path != NULL && r->path->file == r->file)
		r->path->looked = PATHNAME_LONG_AGO;
}

enum go
find_again(struct conn *c)
{
	struct request	*r = c->request;

	if (r->tries++ == REQUEST_TRIES)
		return reply_error(c, reply_why(c, WHY_RESTLESS));
	find_expire(c);
	conn_request_reset(c);
	r->looked = false;
	r->loaded = false;
	return conn_go(c, STEP_FIND);
}

enum go
find_beside(struct conn *c, uint32_t space)
{
	struct request		*r = c->request;
	struct pathname_cache	*paths = &c->http->store->paths;
	struct path		*from = r->path;
	struct str		 name = { from->name, from->len };

	r->path = pathname_hold(paths, space, name);
	if (r->path == NULL) {
		r->path = pathname_add(paths, space, name);
		r->path->rules = from->rules;
		r->path->guarded = from->guarded;
	}
	pathname_release(paths, &from);
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
		pathname_release(&c->http->store->paths, &r->path);
	r->instead = page;
	r->plain = false;
	r->failure = (uint16_t)failure;
	r->looked = false;
	r->tries = 0;
	r->guards = 0;
	return conn_go(c, STEP_ADMIT);
}
