/*
 * find: finds in the pathname cache what a target is; a helper looks up a path
 * that is not there or not fresh.
 */
#include <errno.h>

#include "cache/digest.h"
#include "conf/chain.h"
#include "http/conn.h"
#include "http/find.h"
#include "http/hints/hints.h"
#include "http/limits/verification.h"
#include "http/listing.h"
#include "http/lookup.h"
#include "http/namespace.h"
#include "http/log/refusal.h"
#include "http/programs/other.h"
#include "http/programs/script.h"
#include "http/reply.h"
#include "http/rules.h"
#include "http/stats_page.h"
#include "http/tag.h"
#include "http/variants/filtered.h"
#include "http/variants/filtered_lookup.h"
#include "http/variants/variant.h"
#include "http/watch/passes.h"
#include "lib/compiler.h"
#include "lib/log.h"
#include "stats/chain_stats.h"
#include "stats/stats.h"

#define ALL_VARIANTS	(UINT16_MAX & ~PATHNAME_BY_CONTENT)
/* Paths that one call of find_step() goes through: the file, the file in a
 * language, the result of its filters, that result compressed. */
#define VARIANTS_MAX	4

enum freshness {
	FRESH,
	DUE,			/* for a refresh; usable if that is late */
	EXPIRED
};

static COLD enum freshness
get_freshness_again(const struct conn *c, const struct path_info *a)
{
	const struct conf	*conf = c->http->conf;
	bool			 absent = a->kind == PATHNAME_REFUSED;
	int64_t			 age = c->http->clock->ms - passes_time(
				    c->http, c->request->path, a->checked_at);

	if (age <= (absent ? conf->cache.negative : conf->cache.revalidate))
		return FRESH;
	/* A refusal is never used stale: a new file must appear at once. */
	return !absent && age <= conf->cache.stale ? DUE : EXPIRED;
}

/* The only place that decides whether a path must be looked up again.  The
 * limits were read before the copy was made (http/watch/passes.c). */
static ALWAYS_INLINE enum freshness
get_freshness(const struct conn *c, const struct path_info *a,
    int64_t revalidate, int64_t negative)
{
	int64_t			 age = c->http->clock->ms - a->checked_at;
	bool			 absent = a->kind == PATHNAME_REFUSED;

	if (a->kind == PATHNAME_UNKNOWN)
		return EXPIRED;
	if (variant_has_query(c->request->path->namespace) &&
	    filtered_is_unusable(c))
		return EXPIRED;
	if (a->file != NULL && a->source == FILE_LOST)
		return EXPIRED;
	return c->request->lookup.done ||
	    age <= (absent ? negative : revalidate) ? FRESH :
	    get_freshness_again(c, a);
}

/* Copies what the path is.  For a file, the request keeps this version and what
 * it is sent from, whatever comes after it; but not if the file has one of the
 * variants that may be wanted. */
static void
take_info(struct conn *c, unsigned wanted)
{
	struct request	*r = c->request;

	path_info_get(&c->http->caches->paths, r->path, wanted, &r->info);
	r->file = r->info.file;
	if (r->file == NULL)
		return;
	r->body.file_open = r->info.source == FILE_OPEN;
	r->body.chunk = r->info.chunk;
}

/* Goes to another name. */
static NOINLINE enum go
switch_path(struct conn *c, uint32_t ns, struct str name)
{
	struct request		*r = c->request;
	struct pathname_cache	*paths = &c->http->caches->paths;
	struct path		*p = pathname_hold(paths, ns, name);

	if (p == NULL)
		p = pathname_add(paths, ns, name, r->path->rules,
		    r->path->guarded);
	conn_request_reset(c);
	pathname_release(paths, &r->path);
	r->path = p;
	r->lookup.done = false;
	return conn_go(c, STEP_FIND);
}

/* Goes to the same name in another namespace. */
static ALWAYS_INLINE enum go
switch_namespace(struct conn *c, uint32_t ns)
{
	struct request	*r = c->request;

	if (!pathname_switch(&c->http->caches->paths, &r->path, ns))
		return switch_path(c, ns, (struct str){ r->path->name,
		    r->path->len });
	if (r->file != NULL)
		conn_request_reset(c);
	r->lookup.done = false;
	return conn_go(c, STEP_FIND);
}

/* The time for another file starts at zero. */
static void
reset_attempts(struct request *r)
{
	r->body.load_tried = false;
	r->disk.attempts = 0;
	r->disk.deadline = 0;
}

/* Goes on with the file itself, as the conf says of a filter that fails. */
static COLD enum go
pass_unfiltered(struct conn *c)
{
	struct request	*r = c->request;
	struct str	 name = { r->path->name, r->path->len };

	r->lookup.unfiltered = true;
	reset_attempts(r);
	return switch_path(c, variant_base(r->path->namespace),
	    str_cut(&name, '?'));
}

/* Handles a digest that could not be made.  A handle's file may have another
 * name by now. */
static COLD enum go
handle_no_digest(struct conn *c, int error)
{
	struct request	*r = c->request;

	if (error == ESTALE || r->file->handle)
		return find_retry(c);
	if (namespace_is_variant(r->path->namespace))
		return find_identity(c);
	errno = error;
	if (file_set_warned(r->file))
		log_error("cannot read the file of %.*s",
		    (int)r->path->len, r->path->name);
	return reply_error(c, reply_why(c, why_of_error(error)));
}

/* Has a helper read the next slice of a file whose tag is of its digest. */
static COLD enum go
wait_for_digest(struct conn *c)
{
	struct request	*r = c->request;
	struct task	*e;
	int		 error;

	if (session_is_background(c->session))	/* all of it would be read */
		return reply_error(c, 403);
	if (conn_must_flush(c))
		return conn_send(c, STEP_FIND);
	error = digest_error(r->file);
	if (error != 0 && r->lookup.digest_tried)
		return handle_no_digest(c, error);
	r->lookup.digest_tried = true;
	e = tag_start_digest(c->http, r->file);
	conn_request_reset(c);
	r->lookup.done = true;		/* wherever the path comes to */
	/* NULL: the task was completed at once. */
	return e != NULL ? conn_wait_disk(c, e) : GO_ON;
}

/* Goes on to the answer.  A request that has waited for a run is no hit. */
static enum go
go_to_head(struct conn *c)
{
	const struct request	*r = c->request;

	if (variant_has_query(r->path->namespace) && !r->lookup.awaits_run)
		filtered_count_hit(c);
	return conn_go(c, STEP_HEAD);
}

static COLD enum go	handle_expired(struct conn *);

/* Goes on to the answer, if the file's tag is known. */
static inline enum go
go_to_tagged(struct conn *c)
{
	return tag_wants_digest(c->request) ? wait_for_digest(c) :
	    go_to_head(c);
}

/* Goes on with the file of the path, which may not be held yet, as there are
 * variants. */
static NOINLINE enum go
go_to_file(struct conn *c)
{
	struct request	*r = c->request;

	if (r->file == NULL)
		take_info(c, 0);
	if (r->file == NULL)		/* another thread has changed it */
		return conn_go(c, STEP_FIND);
	return r->info.source == FILE_LOST ? handle_expired(c) :
	    go_to_tagged(c);
}

/* Goes to what filters make of the file for a query. */
static NOINLINE enum go
switch_to_query(struct conn *c, uint32_t ns)
{
	struct buf	*name = &c->http->work;
	enum why	 why;

	name->len = 0;
	why = filtered_add_name(c, name);
	return why != WHY_NONE ? reply_error(c, reply_why(c, why)) :
	    switch_path(c, ns, (struct str){ name->at, name->len });
}

/* Goes on with the file, or to the variant that the client wants. */
static NOINLINE enum go
choose_variant(struct conn *c)
{
	struct request	*r = c->request;
	uint32_t	 ns = variant_choose(c);

	if (ns == VARIANT_NONE)
		return reply_error(c, reply_why(c, WHY_CODING));
	if (ns == r->path->namespace)
		return go_to_file(c);
	if (variant_is_filtered(ns)) {
		r->lookup.reloads = (uint32_t)chain_stats_reloads();
		if (filtered_takes_query(r->path))
			return switch_to_query(c, ns);
	}
	return switch_namespace(c, ns);
}

/* Goes on with the file itself, as its variant cannot be had in time. */
static COLD enum go
fall_back_to_identity(struct conn *c)
{
	struct request	*r = c->request;

	r->lookup.no_variants = true;
	reset_attempts(r);
	return switch_namespace(c, variant_base(r->path->namespace));
}

/* Whether a path that is no file says itself what the response is, with each
 * method alike. */
static bool
has_own_response(const struct path_info *a)
{
	return a->kind == PATHNAME_REFUSED || a->kind == PATHNAME_REDIRECT;
}

static bool
may_run_programs(const struct conn *c)
{
	return c->session->kind == NULL || !c->session->kind->no_programs;
}

/* Handles a path that is no file, but for programs. */
static NOINLINE enum go
handle_non_file(struct conn *c)
{
	struct request		*r = c->request;
	const struct path_info	*a = &r->info;
	const char		*fallback = NULL;

	if (namespace_is_variant(r->path->namespace))
		return fall_back_to_identity(c);
	if (a->why == WHY_FILTER_PASSED || a->why == WHY_FILTER_LEFT_OUT)
		return pass_unfiltered(c);
	if (a->kind == PATHNAME_PROGRAM && r->page.status == 0)
		return may_run_programs(c) ? script_run(c) :
		    reply_error(c, 404);
	reply_why(c, a->why);
	if (r->page.name != NULL && r->page.status == 0)
		refusal_log_page(c);
	if (r->page.name != NULL)	/* no page stands in for a page */
		return reply_error(c, a->kind == PATHNAME_REFUSED &&
		    a->status >= 500 ? a->status : 404);
	if (a->kind == PATHNAME_REFUSED)
		fallback = rules_fallback(r->path, a->status,
		    (enum why)a->why);
	if (fallback != NULL)
		return reply_internal_redirect(c, fallback, 0);
	if (r->discard.deferred)
		return other_discard(c);
	if (other_is(r) && !has_own_response(a))
		return other_refuse(c);
	if (a->kind == PATHNAME_LISTED)
		return switch_namespace(c, listing_choose(c));
	if (a->kind == PATHNAME_STATS_PAGE)
		return stats_page_reply(c);
	if (a->kind == PATHNAME_READY)
		return reply_ready(c);
	return a->kind != PATHNAME_REFUSED ? reply_redirect(c) :
	    reply_error(c, a->status);
}

static inline enum go
handle_info(struct conn *c)
{
	const struct path_info	*a = &c->request->info;

	if (a->kind != PATHNAME_FILE)
		return handle_non_file(c);
	if (a->variants == 0)
		return go_to_head(c);
	return (a->variants & ALL_VARIANTS) != 0 ? choose_variant(c) :
	    go_to_tagged(c);
}

/* Whether the request's time for the disk is up.  The page for that error gets
 * none of its own: it may be on the same disk. */
static bool
is_late(const struct conn *c)
{
	return c->request->disk.deadline != 0 &&
	    c->http->clock->ms >= c->request->disk.deadline;
}

/* Whether a lookup may start: one that compresses needs a free helper. */
static bool
may_start_lookup(const struct http_loop *http, const struct path *p)
{
	return namespace_get(p->namespace)->job != JOB_COMPRESS ||
	    verification_allows_slow_job(http);
}

/* Which bytes the lookup is to bring.  The answer to a client that has the file
 * has none. */
static unsigned
wanted_bytes(const struct conn *c)
{
	const struct parse	*p = &c->request->parse;
	unsigned		 bytes = LOOKUP_SMALL;

	if (p->method != METHOD_GET)
		return 0;
	if (!parse_has(p, FIELD_IF_NONE_MATCH) &&
	    !parse_has(p, FIELD_IF_MODIFIED_SINCE))
		bytes |= LOOKUP_LARGE;
	if (!parse_has(p, FIELD_ACCEPT_ENCODING))
		bytes |= LOOKUP_PLAIN;
	return bytes;
}

/* Waits for a lookup.  The request that has waited for it takes the result,
 * however old it is by then. */
static COLD enum go
wait_for_lookup(struct conn *c)
{
	struct task	*e;
	enum go		 go = GO_ON;	/* if it is completed at once */

	if (conn_must_flush(c))
		return conn_send(c, STEP_FIND);
	hints_note_wait(c, lookup_is_pending(c->http, c->request->path));
	e = lookup_start(c->http, c->request->path,
	    session_is_background(c->session), wanted_bytes(c),
	    c->request->lookup.awaits_run);
	if (e != NULL && lookup_chain(c->http, c->request->path) != NULL)
		c->request->lookup.awaits_run = true;
	if (e != NULL)
		go = conn_wait_disk(c, e);
	c->request->lookup.done = e == NULL || go == GO_WAIT;
	return go;
}

static COLD enum go
handle_expired(struct conn *c)
{
	struct request	*r = c->request;
	struct path	*p = r->path;
	bool over = r->disk.attempts++ == REQUEST_ATTEMPTS_MAX || is_late(c);

	conn_request_reset(c);
	if (namespace_is_variant(p->namespace) && (over ||
	    (!lookup_is_pending(c->http, p) && !may_start_lookup(c->http, p))))
		return fall_back_to_identity(c);
	if (namespace_is_variant(p->namespace) && variant_has_query(
	    p->namespace) && !filtered_lookup_has_source(c->http, p))
		return switch_namespace(c, variant_base(p->namespace));
	if (over)
		return reply_error(c, reply_why(c, is_late(c) ?
		    WHY_DISK_LATE : WHY_FILE_CHANGING));
	return wait_for_lookup(c);
}

/* Whether the request has waited for refreshes as long as it may. */
static bool
has_waited(const struct conn *c)
{
	int64_t	deadline = c->request->lookup.deadline;

	return c->http->conf->cache.wait == 0 ||
	    (deadline != 0 && c->http->clock->ms >= deadline);
}

/* Whether the older answer is used at once: one request for a path waits for a
 * disk that does not answer, and not all of them. */
static bool
is_not_waited_for(const struct conn *c, const struct path *p)
{
	return lookup_is_pending(c->http, p) ? lookup_is_late(c->http, p) :
	    !may_start_lookup(c->http, p);
}

/* Waits a short time for a refresh; then the older answer has to do. */
static COLD enum go
handle_due(struct conn *c)
{
	struct request	*r = c->request;
	struct task	*e;
	enum go		 go = GO_ON;

	if (is_not_waited_for(c, r->path)) {
		stats_count(STATS_OLD_ANSWERS);
		return handle_info(c);
	}
	conn_request_reset(c);
	if (conn_must_flush(c))
		return conn_send(c, STEP_FIND);
	e = lookup_refresh(c->http, r->path);
	if (e == NULL || has_waited(c))
		r->lookup.done = true;
	else {
		go = conn_wait_refresh(c, e);
		r->lookup.done = go == GO_WAIT;
	}
	return go;
}

/* Handles a lookup that was not complete in time; filters may be what it waits
 * for. */
static COLD enum go
handle_timeout(struct conn *c, enum outcome outcome)
{
	const struct path	*p = c->request->path;
	const struct conf_chain	*chain = outcome == OUTCOME_TIMED_OUT &&
				    p != NULL ? lookup_chain(c->http, p) : NULL;

	if (outcome == OUTCOME_TIMED_OUT && p != NULL)
		lookup_pause_results(c->http, p);
	if (chain != NULL)
		return chain->onfail == ONFAIL_PASS ? pass_unfiltered(c) :
		    reply_error(c, reply_why(c, WHY_FILTER_LATE));
	stats_count(STATS_DISK_TIMEOUTS);
	return outcome == OUTCOME_TIMED_OUT && p != NULL &&
	    namespace_is_variant(p->namespace) ? fall_back_to_identity(c) :
	    reply_error(c, reply_why(c, WHY_DISK_LATE));
}

/* Whether a wait for a refresh has ended without an answer. */
static COLD bool
is_late_refresh(struct conn *c, enum outcome outcome)
{
	bool	late = outcome == OUTCOME_TIMED_OUT &&
		    c->wait.timeout == TIMEOUT_REFRESH;

	if (late) {
		stats_count(STATS_OLD_ANSWERS);
		lookup_set_late(c->http, c->request->path);
	}
	return late;
}

/* Whether OPTIONS is for a program, or for a path that may be one: it then is
 * looked up as any other. */
static COLD bool
is_program_asked(struct conn *c)
{
	const struct path	*p = c->request->path;

	if (p == NULL || ((const struct conf_rules *)p->rules)->run.n == 0)
		return false;
	other_note(c->request);
	return true;
}

/* Goes on with what the cache knows of the path. */
static inline enum go
handle_path(struct conn *c)
{
	const struct caches	*caches = c->http->caches;
	int64_t			 revalidate = caches->fresh.revalidate;
	int64_t			 negative = caches->fresh.negative;

	/* A result of filters must be held before one knows if it counts. */
	take_info(c, variant_has_query(c->request->path->namespace) ? 0 :
	    ALL_VARIANTS);
	switch (get_freshness(c, &c->request->info, revalidate, negative)) {
	case FRESH:
		return handle_info(c);
	case DUE:
		return handle_due(c);
	default:
		return handle_expired(c);
	}
}

enum go
find_step(struct conn *c)
{
	struct request	*r = c->request;
	enum outcome	 outcome = conn_outcome(c);
	enum go		 go = GO_ON;

	if (is_failure(outcome) && !is_late_refresh(c, outcome))
		return handle_timeout(c, outcome);
	/* OPTIONS needs no file, but for the page of an error. */
	if (r->parse.method == METHOD_OPTIONS && r->page.status == 0 &&
	    !is_program_asked(c))
		return reply_options(c);
	/* A variant is another path, and may itself have variants. */
	for (unsigned left = VARIANTS_MAX; left > 0; left--) {
		go = handle_path(c);
		if (go != GO_ON || c->step != STEP_FIND)
			break;
	}
	return go;
}

void
find_expire(struct conn *c)
{
	struct request	*r = c->request;

	if (r != NULL && r->path != NULL)
		path_info_expire(&c->http->caches->paths, r->path, r->file);
}

enum go
find_identity(struct conn *c)
{
	find_expire(c);
	return fall_back_to_identity(c);
}

enum go
find_retry(struct conn *c)
{
	struct request	*r = c->request;

	if (namespace_is_variant(r->path->namespace) &&
	    r->disk.attempts >= REQUEST_ATTEMPTS_MAX / 2)
		return find_identity(c);
	if (r->disk.attempts++ == REQUEST_ATTEMPTS_MAX)
		return reply_error(c, reply_why(c, WHY_FILE_CHANGING));
	find_expire(c);
	conn_request_reset(c);
	r->lookup.done = false;
	r->body.load_tried = false;
	return conn_go(c, STEP_FIND);
}
