/*
 * find: what the target of a request is, by the pathname cache; a helper looks
 * at what is not there or no longer fresh.
 */
#include "http/conn.h"
#include "http/find.h"
#include "http/limits/verification.h"
#include "http/listing.h"
#include "http/lookup.h"
#include "http/namespace.h"
#include "http/reply.h"
#include "http/rules.h"
#include "http/stats_page.h"
#include "http/variant.h"
#include "lib/compiler.h"
#include "stats/stats.h"

enum freshness { FRESH, STALE, ROTTEN };

static enum freshness
freshness(const struct conn *c, const struct answer *a)
{
	const struct conf	*conf = c->http->conf;
	int64_t			 age = c->http->clock->ms - a->looked;
	bool			 absent = a->kind == PATHNAME_REFUSED;

	if (a->kind == PATHNAME_UNKNOWN)
		return ROTTEN;
	if (a->kind == PATHNAME_FILE && a->source == FILE_LOST)
		return ROTTEN;
	if (c->request->looked || age <= (absent ?
	    conf->cache.negative : conf->cache.revalidate))
		return FRESH;
	/* Who has just put a file there is not to hear that it is not. */
	return !absent && age <= conf->cache.stale ? STALE : ROTTEN;
}

/* What the path is now; of a file, this version, whatever comes after it, and
 * what it is to be sent from. */
static void
take(struct conn *c)
{
	struct request	*r = c->request;

	answer_take(&c->http->caches->paths, r->path, &r->found);
	r->file = r->found.file;
	if (r->file == NULL)
		return;
	r->file_open = r->found.source == FILE_OPEN;
	r->chunk = r->found.chunk;
}

/* The file itself, or that variant of it that its client wants most. */
static APART enum go
take_best(struct conn *c)
{
	uint32_t	ns;

	switch (variant_wanted(c, &ns)) {
	case VARIANT_TAKE:
		return find_beside(c, ns);
	case VARIANT_NONE_FITS:
		return reply_error(c, reply_why(c, WHY_CODING));
	default:
		return conn_go(c, STEP_HEAD);
	}
}

/* It cannot be had, or not in time: then the file itself, for which there are
 * as many tries and as much time again. */
static RARE enum go
without_variant(struct conn *c)
{
	struct request	*r = c->request;

	r->plain = true;
	r->loaded = false;
	r->tries = 0;
	r->disk_by = 0;
	return find_beside(c, namespace_site(r->path->space));
}

/* What is no file. */
static APART enum go
take_other(struct conn *c)
{
	struct request		*r = c->request;
	const struct answer	*a = &r->found;
	const char		*fallback;

	if (variant_is(r->path->space))
		return without_variant(c);
	reply_why(c, a->why);
	if (r->instead != NULL)		/* no page, and none for a page */
		return reply_error(c, a->kind == PATHNAME_REFUSED &&
		    a->status >= 500 ? a->status : 404);
	if (a->kind == PATHNAME_LISTED)
		return listing_take(c);
	if (a->kind == PATHNAME_COUNTS)
		return counts_take(c);
	if (a->kind != PATHNAME_REFUSED)
		return reply_redirect(c);
	fallback = rules_fallback(r->path, a->status);
	if (fallback != NULL)
		return find_instead(c, fallback, 0);
	return reply_error(c, a->status);
}

static enum go
take_answer(struct conn *c)
{
	const struct answer	*a = &c->request->found;

	if (a->kind != PATHNAME_FILE)
		return take_other(c);
	return a->variants == 0 ? conn_go(c, STEP_HEAD) : take_best(c);
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
may_look(const struct http_loop *http, const struct path *p)
{
	return !variant_is_made(p->space) || verification_leaves_room(http);
}

/* Its answer is good for who has waited for it, however old by then. */
static RARE enum go
look_first(struct conn *c)
{
	struct task	*e;
	enum go		 go = GO_ON;	/* it was done in place */

	if (conn_sends_first(c))
		return conn_send(c, STEP_FIND);
	e = look_start(c->http, c->request->path);
	if (e != NULL)
		go = conn_wait_disk(c, e);
	c->request->looked = e == NULL || go == GO_WAIT;
	return go;
}

static RARE enum go
rotten(struct conn *c)
{
	struct request	*r = c->request;
	struct path	*p = r->path;
	bool		 over = r->tries++ == REQUEST_TRIES || late(c);

	conn_request_reset(c);
	if (variant_is(p->space) && (over ||
	    (!look_is_under_way(c->http, p) && !may_look(c->http, p))))
		return without_variant(c);
	if (over)
		return reply_error(c, reply_why(c, late(c) ?
		    WHY_DISK_LATE : WHY_RESTLESS));
	return look_first(c);
}

/* Good enough, while a helper looks.  Where that is done in place, there is
 * something better already; false: which is of no use any more. */
static RARE bool
stale(struct conn *c)
{
	struct request	*r = c->request;

	if (look_is_under_way(c->http, r->path) ||
	    !may_look(c->http, r->path) || !look_afresh(c->http, r->path))
		return true;
	conn_request_reset(c);
	take(c);
	if (r->found.kind != PATHNAME_UNKNOWN &&
	    (r->file == NULL || r->found.source != FILE_LOST))
		return true;
	conn_request_reset(c);
	return false;
}

/* Nobody has looked in time. */
static RARE enum go
missed(struct conn *c, enum outcome outcome)
{
	const struct path	*p = c->request->path;

	stats_count(STATS_DISK_TIMEOUTS);
	return outcome == OUTCOME_TIMED_OUT && p != NULL &&
	    variant_is(p->space) ? without_variant(c) :
	    reply_error(c, reply_why(c, WHY_DISK_LATE));
}

enum go
find_step(struct conn *c)
{
	struct request	*r = c->request;
	enum outcome	 outcome = conn_outcome(c);

	if (outcome != OUTCOME_READY)
		return missed(c, outcome);
	/* Nothing to be found, but for the page of a failure. */
	if (r->parse.method == METHOD_OPTIONS && r->failure == 0)
		return reply_options(c);
	take(c);
	switch (freshness(c, &r->found)) {
	case FRESH:
		break;
	case STALE:
		if (!stale(c))
			return GO_ON;
		break;
	default:
		return rotten(c);
	}
	return take_answer(c);
}

void
find_expire(struct conn *c)
{
	struct request	*r = c->request;

	if (r != NULL && r->path != NULL)
		answer_expire(&c->http->caches->paths, r->path, r->file);
}

enum go
find_plain(struct conn *c)
{
	find_expire(c);
	return without_variant(c);
}

enum go
find_again(struct conn *c)
{
	struct request	*r = c->request;

	if (variant_is(r->path->space) && r->tries >= REQUEST_TRIES / 2)
		return find_plain(c);
	if (r->tries++ == REQUEST_TRIES)
		return reply_error(c, reply_why(c, WHY_RESTLESS));
	find_expire(c);
	conn_request_reset(c);
	r->looked = false;
	r->loaded = false;
	return conn_go(c, STEP_FIND);
}

enum go
find_beside(struct conn *c, uint32_t ns)
{
	struct request		*r = c->request;
	struct pathname_cache	*paths = &c->http->caches->paths;
	struct path		*from = r->path;
	struct str		 name = { from->name, from->len };

	conn_request_reset(c);
	r->path = pathname_hold(paths, ns, name);
	if (r->path == NULL)
		r->path = pathname_add(paths, ns, name, from->rules,
		    from->guarded);
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
		pathname_release(&c->http->caches->paths, &r->path);
	r->instead = page;
	r->plain = false;
	r->failure = (uint16_t)failure;
	r->looked = false;
	r->tries = 0;
	r->guards = 0;
	return conn_go(c, STEP_ADMIT);
}
