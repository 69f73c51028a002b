/*
 * authorize: whether a client may ask for a target, by networks, passwords and
 * programs of the conf.
 *
 * The decision depends on the name alone and comes before a lookup, so a
 * refusal does not tell whether the file exists.  A directory may turn out to
 * be any of its index files, and a path what it is with a suffix, so the guards
 * of all of them apply.  The page for an error is the conf's and has no guard.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "http/authorize.h"
#include "http/conn.h"
#include "http/limits/client_limits.h"
#include "http/limits/verification.h"
#include "http/log/log_escape.h"
#include "http/programs/authorizer.h"
#include "http/programs/kept.h"
#include "http/reply.h"
#include "http/rules.h"
#include "lib/compiler.h"
#include "lib/log.h"
#include "lib/need.h"
#include "proto/credentials.h"
#include "proto/uri.h"
#include "stats/stats.h"

#define LOG_TEXT_MAX	600		/* bytes of a text from a client */

static bool
match_patterns(const struct conf_files *files, const char *name)
{
	for (size_t i = 0; i < files->patterns.n; i++)
		if (fnmatch(files->patterns.at[i], name, 0) == 0)
			return true;
	return false;
}

/* Joins a decoded path, or its last name, and a name behind it; returns the
 * length. */
static size_t
join_name(char path[2 * JOB_PATH_MAX], const char *decoded, const char *name)
{
	int	len = snprintf(path, 2 * JOB_PATH_MAX, "%s%s", decoded, name);

	need(len > 0 && len < 2 * JOB_PATH_MAX);
	return (size_t)len;
}

/* Whether a name of a decoded path matches: the last one, and where files are
 * programs each, as path info may stand behind the file. */
static bool
match_path(const struct conf_files *files, const struct conf_rules *rules,
    const char *decoded)
{
	const char	*last = strrchr(decoded, '/') + 1;
	char		 text[JOB_PATH_MAX], *rest = text, *name;

	if (rules->run.n == 0 || rules_need_no_file(rules))
		return last[0] != '\0' && match_patterns(files, last);
	memcpy(text, decoded, strlen(decoded) + 1);
	while ((name = strsep(&rest, "/")) != NULL)
		if (name[0] != '\0' && match_patterns(files, name))
			return true;
	return false;
}

/* Whether a block of files applies to a decoded path. */
static bool
files_apply(const struct conf_files *files, const struct conf_rules *rules,
    const char *decoded)
{
	const char		*last = strrchr(decoded, '/') + 1;
	const struct conf_words	*names = rules_names(rules, decoded);
	char			 name[2 * JOB_PATH_MAX];

	if (match_path(files, rules, decoded))
		return true;
	for (size_t i = 0; i < names->n; i++) {
		join_name(name, last, names->at[i]);
		if (match_patterns(files, name))
			return true;
	}
	return false;
}

/* The guard of a file that the path may turn out to be and that has rules of
 * its own, or NULL. */
static const struct conf_guard *
find_other_guard(const struct conf_site *site, const struct conf_rules *rules,
    const char *decoded, const char *name)
{
	const struct conf_rules	*inner;
	char			 path[2 * JOB_PATH_MAX];
	size_t			 len = join_name(path, decoded, name);

	inner = conf_find_rules(site, path, len);
	return inner != rules && inner->guard.active ? &inner->guard : NULL;
}

/* The next guard of a path from a number on; sets *number to the guard's; NULL:
 * no more guards.  The guard of the path's rules comes first, then those of its
 * name, then those of the files that it may turn out to be. */
static const struct conf_guard *
find_next_guard(const struct conf_site *site, const struct conf_rules *rules,
    const char *decoded, size_t *number)
{
	const struct conf_words	*names = rules_names(rules, decoded);
	const struct conf_guard	*guard;
	size_t			 i;

	if (*number == 0 && rules->guard.active)
		return &rules->guard;
	for (*number += *number == 0; *number <= site->nfiles; ++*number)
		if (site->files[*number - 1].guard.active &&
		    files_apply(&site->files[*number - 1], rules, decoded))
			return &site->files[*number - 1].guard;
	for (; (i = *number - site->nfiles - 1) < names->n; ++*number) {
		guard = find_other_guard(site, rules, decoded, names->at[i]);
		if (guard != NULL)
			return guard;
	}
	return NULL;
}

/* Adds the path of a target that is not in the cache; returns an error of the
 * target, or WHY_NONE. */
static COLD enum why
add_path(struct conn *c, const struct conf_site *site, struct str raw,
    struct str name)
{
	struct request		*r = c->request;
	const struct conf_rules	*rules;
	char			 decoded[JOB_PATH_MAX];
	size_t			 len, number = 0;
	bool			 guarded;
	enum why		 why;

	/* All of the name must fit into a job. */
	why = uri_resolve(raw, decoded, sizeof(decoded) - (name.len - raw.len),
	    &len);
	if (why != WHY_NONE && why != WHY_HIDDEN)
		return why;
	rules = conf_find_rules(site, decoded, len);
	if (why == WHY_HIDDEN && !rules_need_no_file(rules))
		return why;
	guarded = rules->limiter != 0 ||
	    find_next_guard(site, rules, decoded, &number) != NULL;
	r->path = pathname_add(&c->http->caches->paths, (uint32_t)site->number,
	    name, rules, guarded);
	return WHY_NONE;
}

/* The host of the request; one that cannot be understood has none. */
static struct str
get_host(const struct conn *c)
{
	const struct parse	*p = &c->request->parse;

	return p->status != 0 ? (struct str){ NULL, 0 } :
	    parse_host_name(p, c->input);
}

/* Holds the path of a target whose name has the host. */
static NOINLINE enum why
hold_path_of_host(struct conn *c, struct str raw)
{
	struct request		*r = c->request;
	struct buf		*work = &c->http->work;
	struct pathname_cache	*paths = &c->http->caches->paths;
	uint32_t		 ns = (uint32_t)r->site->number;
	size_t			 before = work->len;
	struct str		 name = rules_add_name(work, get_host(c), raw);
	enum why		 why = WHY_NONE;

	r->path = pathname_hold(paths, ns, name);
	if (r->path == NULL)
		why = add_path(c, r->site, raw, name);
	work->len = before;
	return why;
}

/* Holds the path of a page, or of a file that a program has named. */
static COLD enum why
hold_path_of_page(struct conn *c)
{
	struct request		*r = c->request;
	const struct conf	*conf = c->http->conf;
	const struct conf_site	*site = kept_is_path(r) ?
				    &conf->sites[conf->nsites] : r->site;
	struct str		 raw = str_of(r->page.name);

	if (site->rules.some_by_host)
		return hold_path_of_host(c, raw);
	r->path = pathname_hold(&c->http->caches->paths,
	    (uint32_t)site->number, raw);
	return r->path != NULL ? WHY_NONE : add_path(c, site, raw, raw);
}

/* Holds the path of the request's target, or of what it has been led to. */
static enum why
hold_path(struct conn *c)
{
	struct request		*r = c->request;
	struct pathname_cache	*paths = &c->http->caches->paths;
	uint32_t		 ns = (uint32_t)r->site->number;
	struct str		 raw;

	if (r->page.name != NULL)
		return hold_path_of_page(c);
	raw = parse_str(c->input, r->parse.path);
	if (r->site->rules.some_by_host)
		return hold_path_of_host(c, raw);
	r->path = prefetch_has_begun(&r->lookup.prefetch) ?
	    pathname_hold_hashed(paths, r->lookup.prefetch.hash, ns, raw) :
	    pathname_hold(paths, ns, raw);
	return r->path != NULL ? WHY_NONE : add_path(c, r->site, raw, raw);
}

static enum go
refuse_request(struct conn *c, enum why why)
{
	stats_count(STATS_DENIED);
	c->request->auth.pending = false;
	return reply_error(c, reply_why(c, why));
}

/* Logs a wrong password, in a form that fail2ban and its like can be taught. */
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
	log_escape_addr(c->session, addr);
	*log_escape_text(rules_raw(r->path), true,
	    target, target + sizeof(target) - 1) = '\0';
	*log_escape_text(who.user, false, name, name + sizeof(name) - 1) = '\0';
	credentials_forget(&who);
	log_notice("authentication failed for user \"%s\" from %s on %s%s",
	    name, addr, r->site->names.at[0], target);
}

/* Whether there is a verdict: a valid one, or any that came while this request
 * waited. */
static bool
has_verdict(const struct conn *c, const struct auth_result *a)
{
	const struct request	*r = c->request;

	return c->http->clock->ms < a->valid_until ||
	    (r->auth.pending && a->count != r->auth.number);
}

/* Goes on to the next guard. */
static enum go
pass_guard(struct conn *c)
{
	struct request	*r = c->request;

	auth_release(&c->http->caches->auth, &r->auth.entry);
	r->auth.pending = false;
	r->auth.user |= REQUEST_USER_PASSWORD;
	r->auth.passed++;
	return GO_ON;
}

/* Whether a right password may be used beyond its validity, as it cannot be
 * verified now. */
static bool
may_use_stale(const struct conn *c, const struct auth_result *a)
{
	return c->http->clock->ms < a->stale_until;
}

/* Whether a stale verdict lets the request pass at once.  The first request
 * that finds it stale waits for a verification, if that can start. */
static bool
passes_by_stale(const struct conn *c, const struct auth_result *a)
{
	return may_use_stale(c, a) && (a->pending || c->request->auth.pending);
}

static enum go
verify_password(struct conn *c, const struct conf_guard *guard,
    const struct credentials *who, const struct auth_result *a)
{
	struct request		*r = c->request;
	struct task		*e = c->http->caches->shared ? NULL :
				    r->auth.entry->task;
	enum verifier_state	 state = VERIFIER_QUEUED;

	if (conn_must_flush(c))
		return conn_send(c, STEP_AUTHORIZE);
	if (!r->auth.pending) {
		r->auth.pending = true;
		r->auth.number = a->count;
	}
	if (e == NULL)
		state = verification_start(c, r->auth.entry, guard->file, who,
		    &e);
	if (state != VERIFIER_RUNNING && may_use_stale(c, a))
		return pass_guard(c);
	if (state == VERIFIER_REFUSED)
		return reply_error(c, reply_why(c, WHY_VERIFIERS_BUSY));
	/* NULL: the task was completed at once. */
	return e != NULL ? conn_wait_disk(c, e) : GO_ON;
}

static enum go
handle_failure(struct conn *c, const struct auth_result *a)
{
	bool	busy = why_is_transient(a->error);

	if (busy && may_use_stale(c, a))
		return pass_guard(c);
	return reply_error(c, reply_why(c, busy ? why_of_error(a->error) :
	    WHY_UNVERIFIED));
}

/* Acts on a verdict; GO_ON in the same step: to the next guard. */
static enum go
handle_verdict(struct conn *c, const struct auth_result *a)
{
	if (a->verdict == AUTH_FAILED)
		return handle_failure(c, a);
	if (a->verdict == AUTH_WRONG) {
		if (c->request->auth.pending)	/* else it has been logged */
			log_auth_failure(c);
		return refuse_request(c, WHY_PASSWORD);
	}
	need(a->verdict == AUTH_RIGHT);
	return pass_guard(c);
}

/*
 * Holds the auth entry of a password; false: no verification could be queued.
 * Then no entry is added: passwords that cannot be verified must not evict
 * right ones.
 */
static bool
hold_auth(struct conn *c, const struct conf_guard *guard,
    const struct credentials *who)
{
	struct request		*r = c->request;
	struct auth_cache	*auths = &c->http->caches->auth;
	struct str		 file = str_of(guard->file);

	if (r->auth.entry == NULL)
		r->auth.entry = auth_hold(auths, file, who->user,
		    who->password);
	if (r->auth.entry == NULL && verification_accepts(c))
		r->auth.entry = auth_add(auths, file, who->user, who->password);
	return r->auth.entry != NULL;
}

static enum go
check_auth(struct conn *c, const struct conf_guard *guard,
    const struct credentials *who)
{
	struct auth_result	result;

	if (!hold_auth(c, guard, who))
		return reply_error(c, reply_why(c, WHY_VERIFIERS_BUSY));
	auth_get(&c->http->caches->auth, c->request->auth.entry, &result);
	if (has_verdict(c, &result))
		return handle_verdict(c, &result);
	if (passes_by_stale(c, &result))
		return pass_guard(c);
	return verify_password(c, guard, who, &result);
}

/* Checks the password for a guard. */
static enum go
check_password(struct conn *c, const struct conf_guard *guard)
{
	struct request		*r = c->request;
	struct credentials	 who;
	enum go			 go;
	size_t			 before = r->auth.passed;

	r->auth.guard = guard;
	if (!credentials_read(parse_field(&r->parse, c->input,
	    FIELD_AUTHORIZATION), &who))
		return refuse_request(c, WHY_PASSWORD);
	go = check_auth(c, guard, &who);
	/* Not before the password is known to be right: the time of an answer
	 * must not tell whom the conf names. */
	if (r->auth.passed > before &&
	    !conf_groups_admit(guard, who.user.at, who.user.len))
		go = refuse_request(c, WHY_USER);
	credentials_forget(&who);
	return go;
}

static bool
network_passes(const struct conn *c, const struct conf_guard *guard)
{
	return conf_access_admits(guard, c->session->family, c->session->addr);
}

/* Whether a password can stand in for the network, and the other way round. */
static bool
takes_either(const struct conf_guard *guard)
{
	return guard->satisfy == SATISFY_ANY && guard->realm != NULL;
}

/* Whether a program, or the conf, has led the request to its path. */
static bool
is_internal(const struct request *r)
{
	return r->local_redirects > 0 || r->page.name != NULL;
}

/* Whether a guard is for paths that no client may ask for. */
static bool
is_kept_inside(const struct conn *c, const char *decoded)
{
	const struct request	*r = c->request;
	const struct conf_guard	*guard;

	for (size_t i = 0; (guard = find_next_guard(r->site, r->path->rules,
	    decoded, &i)) != NULL; i++)
		if (guard->internal != 0)
			return true;
	return false;
}

/* Whether all guards allow the client's network.  Networks are checked before
 * passwords: no password opens a closed network, unless either will do. */
static bool
network_is_allowed(const struct conn *c, const char *decoded)
{
	struct request		*r = c->request;
	const struct conf_guard	*guard;

	for (size_t i = 0; (guard = find_next_guard(r->site, r->path->rules,
	    decoded, &i)) != NULL; i++) {
		if (takes_either(guard) || network_passes(c, guard))
			continue;
		r->auth.guard = guard;
		return false;
	}
	return true;
}

/* Whether the client's address is over the rate of the rules.  A request counts
 * once, before its password is verified. */
static bool
is_over_rate(struct conn *c)
{
	struct request	*r = c->request;
	bool		 over = !r->auth.counted &&
			    !client_limits_request_here(c, r->path->rules);

	r->auth.counted = true;
	return over;
}

/* Whether the program of a guard is that of one before it. */
static bool
is_asked_before(const struct request *r, const char *decoded,
    const struct conf_guard *guard, size_t number)
{
	const struct conf_guard	*first;

	for (size_t i = 0; (first = find_next_guard(r->site, r->path->rules,
	    decoded, &i)) != NULL && i < number; i++)
		if (first->authorizer == guard->authorizer)
			return true;
	return false;
}

const struct conf_guard *
authorize_find_program(const struct request *r, const char *decoded,
    size_t *number)
{
	const struct conf_guard	*guard;

	for (; (guard = find_next_guard(r->site, r->path->rules, decoded,
	    number)) != NULL; ++*number)
		if (guard->authorizer != NULL &&
		    !is_asked_before(r, decoded, guard, *number))
			return guard;
	return NULL;
}

/* Asks the next program, behind all networks and passwords: these cost less.
 * An invented request goes on as one that each of them lets pass. */
static enum go
ask_programs(struct conn *c, const char *decoded)
{
	size_t			 number = authorizer_next(c->request);
	const struct conf_guard	*guard = authorize_find_program(c->request,
				    decoded, &number);

	return guard == NULL || session_is_invented(c->session) ?
	    conn_go(c, STEP_FIND) : authorizer_ask(c, guard, number);
}

static COLD enum go
check_guards(struct conn *c)
{
	struct request		*r = c->request;
	const struct path	*p = r->path;
	const struct conf_guard	*guard;
	char			 decoded[JOB_PATH_MAX];

	if (session_is_background(c->session))
		return reply_error(c, 403);
	rules_decode(p, decoded);
	if (is_over_rate(c))
		return reply_error(c, reply_why(c, WHY_RATE_HERE));
	if (!is_internal(r) && is_kept_inside(c, decoded))
		return reply_error(c, reply_why(c, WHY_INTERNAL));
	if (!network_is_allowed(c, decoded))
		return refuse_request(c, WHY_NETWORK);
	while ((guard = find_next_guard(r->site, p->rules, decoded,
	    &r->auth.passed)) != NULL && (guard->realm == NULL ||
	    (takes_either(guard) && network_passes(c, guard))))
		r->auth.passed++;
	if (guard == NULL)
		return ask_programs(c, decoded);
	return check_password(c, guard);
}

/* Whether the request is OPTIONS *, which is about the server. */
static bool
is_about_server(const struct conn *c)
{
	const struct request	*r = c->request;

	return r->parse.method == METHOD_OPTIONS && r->page.name == NULL &&
	    str_same(parse_str(c->input, r->parse.path), STR("*"));
}

/* Whether a verification timed out while the stale verdict may be used.  The
 * next wait for the disk has a deadline of its own. */
static COLD bool
is_late_but_stale(struct conn *c, enum outcome outcome)
{
	struct request		*r = c->request;
	struct auth_result	 result;

	if (outcome != OUTCOME_TIMED_OUT || r->auth.entry == NULL)
		return false;
	auth_get(&c->http->caches->auth, r->auth.entry, &result);
	if (!may_use_stale(c, &result))
		return false;
	r->disk.deadline = 0;
	return true;
}

enum go
authorize_step(struct conn *c)
{
	struct request	*r = c->request;
	enum outcome	 outcome = conn_outcome(c);
	enum why	 why;

	if (is_failure(outcome) && !is_late_but_stale(c, outcome)) {
		stats_count(STATS_DISK_TIMEOUTS);
		return reply_error(c, reply_why(c, WHY_DISK_LATE));
	}
	if (is_about_server(c))
		return conn_go(c, STEP_FIND);
	if (r->path == NULL && (why = hold_path(c)) != WHY_NONE)
		return reply_error(c, reply_why(c, why));
	if (!r->path->guarded || r->page.status != 0 ||
	    (session_is_trusted(c->session) &&
	    !session_is_background(c->session)))
		return conn_go(c, STEP_FIND);
	return check_guards(c);
}
