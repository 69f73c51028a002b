/*
 * authorize: who may ask for a target: by the networks and passwords of the
 * conf.
 *
 * It goes by the name alone, before anybody has looked whether there is such
 * a file, so who is refused learns nothing.  A directory may turn out to be any
 * of its index files, so it is guarded as all of them are.  The page for a
 * failure is the conf's, and for everybody.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "http/conn.h"
#include "http/limits/verification.h"
#include "http/log_escape.h"
#include "http/lookup.h"
#include "http/reply.h"
#include "http/rules.h"
#include "lib/compiler.h"
#include "lib/log.h"
#include "lib/need.h"
#include "proto/credentials.h"
#include "proto/uri.h"
#include "stats/stats.h"

#define LOG_TEXT_MAX	600		/* bytes of what a client sent, each */

static bool
match_patterns(const struct conf_files *files, const char *name)
{
	for (size_t i = 0; i < files->patterns.n; i++)
		if (fnmatch(files->patterns.at[i], name, 0) == 0)
			return true;
	return false;
}

/* Whether files with such names are what a decoded path may stand for. */
static bool
files_apply(const struct conf_files *files, const struct conf_rules *rules,
    const char *decoded)
{
	const char		*name = strrchr(decoded, '/') + 1;
	const struct conf_words	*index = rules_index(rules);

	if (name[0] != '\0')
		return match_patterns(files, name);
	for (size_t i = 0; i < index->n; i++)
		if (match_patterns(files, index->at[i]))
			return true;
	return false;
}

/* A directory may be answered by a file of its index with rules of its own. */
static const struct conf_guard *
find_index_guard(const struct conf_site *site, const struct conf_rules *rules,
    const char *decoded, const char *name)
{
	const struct conf_rules	*inner;
	char			 path[2 * JOB_PATH_MAX];
	int			 len;

	len = snprintf(path, sizeof(path), "%s%s", decoded, name);
	need(len > 0 && (size_t)len < sizeof(path));
	inner = conf_find_rules(site, path, (size_t)len);
	return inner != rules && inner->guard.active ? &inner->guard : NULL;
}

/* The next guard of a path from a number on, which is that one's then; NULL:
 * there are no more.  First that of its rules, then those of its name, then
 * those of its index. */
static const struct conf_guard *
find_next_guard(const struct conf_site *site, const struct conf_rules *rules,
    const char *decoded, size_t *number)
{
	const struct conf_words	*index = rules_index(rules);
	const struct conf_guard	*guard;
	size_t			 i;

	if (*number == 0 && rules->guard.active)
		return &rules->guard;
	for (*number += *number == 0; *number <= site->nfiles; ++*number)
		if (files_apply(&site->files[*number - 1], rules, decoded))
			return &site->files[*number - 1].guard;
	if (*(strrchr(decoded, '/') + 1) != '\0')
		return NULL;
	for (; (i = *number - site->nfiles - 1) < index->n; ++*number) {
		guard = find_index_guard(site, rules, decoded, index->at[i]);
		if (guard != NULL)
			return guard;
	}
	return NULL;
}

/* The path of a target that nobody has asked for yet; or what is wrong with
 * that. */
static COLD enum why
add_path(struct conn *c, uint32_t ns, struct str raw)
{
	struct request	*r = c->request;
	const struct conf_rules	*rules;
	char			 decoded[JOB_PATH_MAX];
	size_t			 len, number = 0;
	bool			 guarded;
	enum why		 why;

	why = uri_resolve(raw, decoded, sizeof(decoded), &len);
	if (why != WHY_NONE)
		return why;
	rules = conf_find_rules(r->site, decoded, len);
	guarded = find_next_guard(r->site, rules, decoded, &number) != NULL;
	r->path = pathname_add(&c->http->caches->paths, ns, raw, rules,
	    guarded);
	return WHY_NONE;
}

/* Holds the path of a request's target. */
static enum why
hold_path(struct conn *c)
{
	struct request		*r = c->request;
	struct pathname_cache	*paths = &c->http->caches->paths;
	uint32_t		 ns = (uint32_t)r->site->number;
	struct str		 raw = r->page != NULL ? str_of(r->page) :
			    parse_str(c->input, r->parse.path);

	r->path = prefetch_has_begun(&r->prefetch) && r->page == NULL ?
	    pathname_hold_hashed(paths, r->prefetch.hash, ns, raw) :
	    pathname_hold(paths, ns, raw);
	return r->path != NULL ? WHY_NONE : add_path(c, ns, raw);
}

static enum go
refuse_request(struct conn *c, enum why why)
{
	stats_count(STATS_DENIED);
	c->request->auth_pending = false;
	return reply_error(c, reply_why(c, why));
}

/* In a form that tools which shut clients out can be taught. */
static void
log_auth_failure(struct conn *c)
{
	const struct request	*r = c->request;
	struct credentials	 who;
	char			 addr[LOG_ADDR_MAX];
	char			 target[LOG_TEXT_MAX], name[LOG_TEXT_MAX];

	if (!credentials_read(parse_field(&r->parse, c->input,
	    FIELD_AUTHORIZATION), &who))
		return;
	log_escape_addr(c, addr);
	*log_escape_text((struct str){ r->path->name, r->path->len }, true,
	    target, target + sizeof(target) - 1) = '\0';
	*log_escape_text(who.user, false, name, name + sizeof(name) - 1) = '\0';
	credentials_forget(&who);
	log_notice("authentication failed for user \"%s\" from %s on %s%s",
	    name, addr, r->site->names.at[0], target);
}

/* What an auth entry says counts for who has waited for it, however old. */
static bool
has_verdict(const struct conn *c, const struct auth_result *a)
{
	const struct request	*r = c->request;

	return c->http->clock->ms < a->valid_until ||
	    (r->auth_pending && a->count != r->auth_number);
}

/* On to the next guard, if there is one. */
static enum go
pass_guard(struct conn *c)
{
	struct request	*r = c->request;

	auth_release(&c->http->caches->auth, &r->auth);
	r->auth_pending = false;
	r->auth_ok = true;
	r->guards_passed++;
	return GO_ON;
}

/* It was right, and nobody can say now whether it still is. */
static bool
may_use_stale(const struct conn *c, const struct auth_result *a)
{
	return c->http->clock->ms < a->stale_until;
}

/* One that may: who asks first is to wait, if that has to wait for nobody. */
static bool
passes_by_stale(const struct conn *c, const struct auth_result *a)
{
	return may_use_stale(c, a) && (a->pending || c->request->auth_pending);
}

static enum go
verify_password(struct conn *c, const struct conf_guard *guard,
    const struct credentials *who, const struct auth_result *a)
{
	struct request		*r = c->request;
	struct task		*e = c->http->caches->shared ? NULL :
				    r->auth->task;
	enum verifier_state	 state = VERIFIER_QUEUED;

	if (conn_must_flush(c))
		return conn_send(c, STEP_AUTHORIZE);
	if (!r->auth_pending) {
		r->auth_pending = true;
		r->auth_number = a->count;
	}
	if (e == NULL)
		state = verification_start(c, r->auth, guard->file, who, &e);
	if (state != VERIFIER_RUNNING && may_use_stale(c, a))
		return pass_guard(c);
	if (state == VERIFIER_REFUSED)
		return reply_error(c, reply_why(c, WHY_VERIFIERS_BUSY));
	/* Else it was done in place. */
	return e != NULL ? conn_wait_disk(c, e) : GO_ON;
}

static enum go
handle_failure(struct conn *c, const struct auth_result *a)
{
	bool	busy = lookup_is_transient(a->error);

	if (busy && may_use_stale(c, a))
		return pass_guard(c);
	return reply_error(c, reply_why(c, busy ? lookup_why(a->error) :
	    WHY_UNVERIFIED));
}

/* What the auth entry of a guard says; GO_ON in the same step: let in. */
static enum go
handle_verdict(struct conn *c, const struct auth_result *a)
{
	if (a->verdict == AUTH_FAILED)
		return handle_failure(c, a);
	if (a->verdict == AUTH_WRONG) {
		if (c->request->auth_pending)	/* else it was told a moment ago */
			log_auth_failure(c);
		return refuse_request(c, WHY_PASSWORD);
	}
	need(a->verdict == AUTH_RIGHT);
	return pass_guard(c);
}

/*
 * What is known about these, or will be; false: it cannot be found out now.
 * Then nothing is added: passwords that nobody verifies are not to be
 * remembered in place of those that were right.
 */
static bool
hold_auth(struct conn *c, const struct conf_guard *guard,
    const struct credentials *who)
{
	struct request		*r = c->request;
	struct auth_cache	*grants = &c->http->caches->auth;
	struct str		 file = str_of(guard->file);

	if (r->auth == NULL)
		r->auth = auth_hold(grants, file, who->user, who->password);
	if (r->auth == NULL && verification_accepts(c))
		r->auth = auth_add(grants, file, who->user, who->password);
	return r->auth != NULL;
}

static enum go
check_auth(struct conn *c, const struct conf_guard *guard,
    const struct credentials *who)
{
	struct auth_result	answer;

	if (!hold_auth(c, guard, who))
		return reply_error(c, reply_why(c, WHY_VERIFIERS_BUSY));
	auth_get(&c->http->caches->auth, c->request->auth, &answer);
	if (has_verdict(c, &answer))
		return handle_verdict(c, &answer);
	if (passes_by_stale(c, &answer))
		return pass_guard(c);
	return verify_password(c, guard, who, &answer);
}

/* Whether a guard's password is right. */
static enum go
check_password(struct conn *c, const struct conf_guard *guard)
{
	struct request		*r = c->request;
	struct credentials	 who;
	enum go			 go;

	r->guard = guard;
	if (!credentials_read(parse_field(&r->parse, c->input,
	    FIELD_AUTHORIZATION), &who))
		return refuse_request(c, WHY_PASSWORD);
	go = check_auth(c, guard, &who);
	credentials_forget(&who);
	return go;
}

/* Networks come first: where they refuse no password helps. */
static bool
network_is_allowed(const struct conn *c, const char *decoded)
{
	struct request		*r = c->request;
	const struct conf_guard	*guard;

	for (size_t i = 0; (guard = find_next_guard(r->site, r->path->rules,
	    decoded, &i)) != NULL; i++) {
		if (conf_access_admits(
			guard, c->session->family, c->session->addr))
			continue;
		r->guard = guard;
		return false;
	}
	return true;
}

static COLD enum go
check_guards(struct conn *c)
{
	struct request		*r = c->request;
	const struct path	*p = r->path;
	const struct conf_guard	*guard;
	char			 decoded[JOB_PATH_MAX];
	size_t			 len;

	need(uri_resolve((struct str){ p->name, p->len }, decoded,
	    sizeof(decoded), &len) == 0);
	if (!network_is_allowed(c, decoded))
		return refuse_request(c, WHY_NETWORK);
	while ((guard = find_next_guard(r->site, p->rules, decoded,
	    &r->guards_passed)) != NULL && guard->realm == NULL)
		r->guards_passed++;
	if (guard == NULL)
		return conn_go(c, STEP_FIND);
	return check_password(c, guard);
}

/* OPTIONS * is about the server. */
static bool
is_about_server(const struct conn *c)
{
	const struct request	*r = c->request;

	return r->parse.method == METHOD_OPTIONS && r->page == NULL &&
	    str_same(parse_str(c->input, r->parse.path), STR("*"));
}

/* Nobody could say in time whether a password that was right still is.  What
 * comes behind that has its own time. */
static bool
is_late_but_stale(struct conn *c, enum outcome outcome)
{
	struct request		*r = c->request;
	struct auth_result	 answer;

	if (outcome != OUTCOME_TIMED_OUT || r->auth == NULL)
		return false;
	auth_get(&c->http->caches->auth, r->auth, &answer);
	if (!may_use_stale(c, &answer))
		return false;
	r->disk_deadline = 0;
	return true;
}

enum go
authorize_step(struct conn *c)
{
	struct request	*r = c->request;
	enum outcome	 outcome = conn_outcome(c);
	enum why	 why;

	if (outcome != OUTCOME_READY && !is_late_but_stale(c, outcome)) {
		stats_count(STATS_DISK_TIMEOUTS);
		return reply_error(c, reply_why(c, WHY_DISK_LATE));
	}
	if (is_about_server(c))
		return conn_go(c, STEP_FIND);
	if (r->path == NULL && (why = hold_path(c)) != WHY_NONE)
		return reply_error(c, reply_why(c, why));
	if (!r->path->guarded || r->page_status != 0 || c->transport->trusted)
		return conn_go(c, STEP_FIND);
	return check_guards(c);
}
