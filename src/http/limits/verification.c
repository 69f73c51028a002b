/*
 * verification: a task and the auth entry that takes its verdict.
 */
#include <sys/param.h>

#include <netinet/in.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "http/limits/verification.h"
#include "http/log/log_escape.h"
#include "http/tasks.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "proto/why.h"
#include "stats/stats.h"

/* ms for which a wrong verdict is kept. */
#define WRONG_KEEP_MS	1000
#define LOG_NAME_MAX	600		/* bytes of a user's name */

/* A password that is or will be verified, and for whom. */
struct verification {
	struct task		 task;	/* first member: casts rely on it */
	struct http_loop	*http;
	struct auth_entry	*auth;	/* held */
	struct credentials	 who;
	struct verifier_entry	 entry;
};

bool
verification_allows_slow_job(const struct http_loop *http)
{
	int64_t	busy = http->caches->compressing + http->caches->verifiers.busy;

	return busy == 0 || busy < conf_helpers_share(http->conf) / 2;
}

/* Limits of helpers that verify.  Jobs that compress take of the total, but one
 * password may always be verified.  An address has half, whatever is
 * compressed. */
static struct verifiers_limits
get_limits(const struct http_loop *http)
{
	int64_t			 most = http->conf->limits.verify;
	int64_t			 half = conf_helpers_share(http->conf) / 2;
	int64_t			 compressing = http->caches->compressing;
	struct verifiers_limits	 limits;

	limits.total = MIN(most, half - compressing);
	if (limits.total < 1)
		limits.total = compressing == 0;
	limits.per_client = MAX(1, MIN(most, half) / 2);
	return limits;
}

/* Clients without an address count as one address. */
static struct address_key
get_client_name(const struct conn *c)
{
	uint8_t	family = c->session->family;

	return addresses_key(c->session->addr, family == AF_INET ? 4 :
	    family == AF_INET6 ? 16 : 0);
}

/* The owner of entries, if threads share the caches; else NULL. */
static const void *
get_owner(const struct http_loop *http)
{
	return http->caches->shared ? http : NULL;
}

static struct verification *
verification_of(struct verifier_entry *entry)
{
	return (struct verification *)((char *)entry -
	    offsetof(struct verification, entry));
}

/* Notes that a password could not be verified. */
static void
set_failure(struct verification *v, int error)
{
	const char	*file = v->task.job.verify.file;

	errno = error;
	if (!log_is_due(&v->http->caches->unverified_warned_at,
	    v->http->clock->ms))
		;
	else if (why_is_transient(error))
		log_warn("requests with a password get status 503: cannot "
		    "verify passwords by %s now", file);
	else
		log_error("requests with a password get status 500: cannot "
		    "verify passwords by %s", file);
	auth_set(&v->http->caches->auth, v->auth, AUTH_FAILED, error,
	    v->http->clock->ms, 0);
}

static void
log_unusable(const struct verification *v)
{
	char	name[LOG_NAME_MAX];

	if (!log_is_due(&v->http->caches->unusable_warned_at,
	    v->http->clock->ms))
		return;
	*log_escape_text(v->who.user, false, name,
	    name + sizeof(name) - 1) = '\0';
	log_warnx("%s: user \"%s\" is refused: crypt(3) does not know the "
	    "form of the password; make it anew with htpasswd -B or mkpasswd",
	    v->task.job.verify.file, name);
}

static void
complete_verification(struct task *e)
{
	struct verification	*v = (struct verification *)e;
	const struct job	*job = &e->job;
	struct caches		*caches = v->http->caches;
	int64_t			 now = v->http->clock->ms;
	int64_t			 keep = v->http->conf->cache.logins_keep;

	if (!caches->shared)
		v->auth->task = NULL;
	if (job->error == ECANCELED)
		return;			/* the job was not performed */
	if (job->error == ENOTSUP)
		log_unusable(v);
	else if (job->error != 0) {
		set_failure(v, job->error);
		return;
	}
	if (job->error == 0 && job->verify.right == 1)
		auth_set(&caches->auth, v->auth, AUTH_RIGHT, 0, now,
		    keep);
	else
		auth_set(&caches->auth, v->auth, AUTH_WRONG, 0, now,
		    MIN(keep, WRONG_KEEP_MS));
}

/* Frees the verification.  The slot goes to an entry that has waited, not to a
 * connection that was just woken. */
static void
free_verification(struct task *e)
{
	struct verification	*v = (struct verification *)e;
	struct http_loop	*http = v->http;

	verifiers_remove(&http->caches->verifiers, &v->entry);
	auth_end(&http->caches->auth, &v->auth);
	credentials_forget(&v->who);
	free(v);
	verification_run_next(http);
}

/* Ends a deferred verification that no connection waits for. */
static void
abandon_task(struct task *e)
{
	stats_count(STATS_JOBS_DROPPED);
	e->job.error = ECANCELED;
	e->complete(e);
	e->free(e);
}

static enum submitted
submit_verification(struct verification *v)
{
	stats_count(STATS_VERIFICATIONS);
	v->task.abandon = NULL;
	return tasks_submit(v->http, &v->task);
}

void
http_verify(struct http_loop *http)
{
	struct verifiers	*vs = &http->caches->verifiers;
	struct verifiers_limits	 now;
	struct verifier_entry	*entry;
	const void		*owner;

	if (http->verify.hold)
		return;
	do {
		now = get_limits(http);
		if (!http->caches->shared)
			(void)verifiers_assign(vs, &now, &owner);
		entry = verifiers_start_next(vs, get_owner(http));
		if (entry != NULL)
			submit_verification(verification_of(entry));
	} while (entry != NULL);
}

/* Assigns slots to entries, each of which starts in its own thread. */
static void
assign_slots(const struct http_loop *http)
{
	struct verifiers	*vs = &http->caches->verifiers;
	struct verifiers_limits	 now = get_limits(http);
	const void		*owner;
	const struct http_loop	*other;

	while (verifiers_assign(vs, &now, &owner)) {
		other = owner;
		other->verify.schedule(other->verify.context);
	}
}

void
verification_run_next(struct http_loop *http)
{
	if (http->caches->shared)
		assign_slots(http);
	else
		http_verify(http);
}

bool
verification_accepts(const struct conn *c)
{
	const struct address_key	name = get_client_name(c);
	const struct verifiers_limits	now = get_limits(c->http);

	return verifiers_accepts(&c->http->caches->verifiers, &name, &now);
}

static struct verification *
new_verification(struct http_loop *http, struct auth_entry *grant,
    const char *file, const struct credentials *who)
{
	struct verification	*v = mem_zero(sizeof(*v));
	struct job		*job = &v->task.job;

	memcpy(v->who.bytes, who->bytes, sizeof(v->who.bytes));
	v->who.user = (struct str){ v->who.bytes, who->user.len };
	tasks_init(http, &v->task, JOB_VERIFY, complete_verification,
	    free_verification);
	v->task.abandon = abandon_task;
	job->verify.file = file;
	job->verify.both = (struct str){ v->who.bytes,
	    who->user.len + who->password.len + 2 };
	v->http = http;
	v->auth = grant;
	return v;
}

/* In caches of one loop the task is the auth entry's, for others to join. */
enum verifier_state
verification_start(const struct conn *c, struct auth_entry *grant,
    const char *file, const struct credentials *who, struct task **ep)
{
	struct http_loop			*http = c->http;
	struct verification *v = new_verification(http, grant, file, who);
	const struct address_key	 name = get_client_name(c);
	const struct verifiers_limits	 now = get_limits(http);
	enum verifier_state		 state;

	*ep = &v->task;
	auth_begin(&http->caches->auth, grant);
	if (!http->caches->shared)
		grant->task = &v->task;
	/* From here on a slot may be assigned; the verification starts in this
	 * thread. */
	state = verifiers_add(&http->caches->verifiers, &v->entry, &name,
	    get_owner(http), &now);
	if (state == VERIFIER_RUNNING) {
		if (submit_verification(v) == SUBMITTED_COMPLETED)
			*ep = NULL;
	} else if (state == VERIFIER_QUEUED && http->caches->shared) {
		/* A slot may have become free before the entry was queued. */
		assign_slots(http);
	} else if (state == VERIFIER_REFUSED) {
		if (!http->caches->shared)
			grant->task = NULL;
		auth_end(&http->caches->auth, &v->auth);
		credentials_forget(&v->who);
		mem_drop(&v);
		*ep = NULL;
	}
	return state;
}

void
verification_cancel_all(struct http_loop *http)
{
	struct verifiers	*vs = &http->caches->verifiers;
	struct verifier_entry	*entry;
	struct verification	*v;

	while ((entry = verifiers_first(vs, get_owner(http))) != NULL) {
		v = verification_of(entry);
		v->http->verify.hold = true;
		abandon_task(&v->task);
	}
}
