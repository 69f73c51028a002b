/*
 * answer: the head of a program's answer, and the head of the response that is
 * made of it.
 */
#include <sys/param.h>
#include <sys/wait.h>

#include <errno.h>
#include <string.h>

#include "http/fields.h"
#include "http/log/refusal.h"
#include "http/programs/authorizer.h"
#include "http/programs/kept.h"
#include "http/programs/passage.h"
#include "http/programs/run.h"
#include "http/reply.h"
#include "http/rules.h"
#include "lib/clock.h"
#include "proto/status.h"
#include "stats/stats.h"

#define RESENDS_MAX	2	/* of a request; documented in
				 * amped-programs(7) */

/*
 * The program's end, before its head is complete
 */

/* The reason that follows from the errno of a start: of a program with a
 * directory, the request names the file; of an interpreter, EPERM is of the
 * file that the request names. */
static enum why
get_start_why(const struct run *run, int error)
{
	bool	named = run->program->directory != NULL ||
		    (run->file != NULL && error == EPERM);

	if (error == EAGAIN || error == ENOMEM || error == EMFILE ||
	    error == ENFILE)
		return WHY_PROGRAM_BUSY;
	if (named && (error == ENOENT || error == ENOTDIR))
		return WHY_ABSENT;
	return named && (error == EACCES || error == EPERM || error == ELOOP ||
	    error == EXDEV) ? WHY_EXECUTE : WHY_PROGRAM_FAILED;
}

static enum go
handle_exit(struct conn *c)
{
	const struct run	*run = c->request->run;
	int			 status = run->backend->status;
	const char		*seen = run->head.len == 0 ?
				    "without an answer" :
				    run->next == RUN_AUTHORIZED ?
				    "before the end of its answer" :
				    "before its head was complete";

	stats_count(STATS_PROGRAMS_FAILED);
	if (status != -1 && WIFSIGNALED(status))
		return failure_reply(c, WHY_PROGRAM_ENDED, "it was killed by "
		    "signal %d, %s", WTERMSIG(status), seen);
	if (status != -1 && WIFEXITED(status))
		return failure_reply(c, WHY_PROGRAM_ENDED, "it ended with "
		    "status %d, %s", WEXITSTATUS(status), seen);
	return failure_reply(c, WHY_PROGRAM_ENDED, run->program->servers.n > 0 ?
	    "its connection has ended, %s" : "it was ended, %s", seen);
}

/* Whether a request may be sent once more without harm, and goes to a program
 * that may not have had it at all. */
static bool
may_resend(const struct conn *c)
{
	const struct request	*r = c->request;

	return r->run->backend->unread && r->run->resends < RESENDS_MAX &&
	    (r->parse.method == METHOD_GET ||
	    r->parse.method == METHOD_HEAD) &&
	    r->parse.content_length <= 0 && !r->parse.chunked;
}

/* Begins the request again, which waits for a process or a server as any other
 * request does. */
static enum go
resend(struct conn *c)
{
	struct run	*run = c->request->run;

	run_end(c);
	run->resends++;
	run->started = false;
	return conn_go(c, STEP_START);
}

static enum go
handle_end(struct conn *c)
{
	struct run	*run = c->request->run;
	int		 error = run->backend->error;

	if (may_resend(c))
		return resend(c);
	switch (run->backend->end) {
	case BACKEND_BUSY:
		stats_count(STATS_PROGRAMS_BUSY);
		run_count(c, PROGRAM_STATS_REFUSED);
		run->retry_after = run->backend->retry_after;
		return failure_reply(c, WHY_PROGRAM_BUSY, "as many of it run "
		    "and wait as may (most, queue, within)");
	case BACKEND_FAILED:
		stats_count(STATS_PROGRAMS_FAILED);
		return failure_reply(c, get_start_why(run, error),
		    run->program->servers.n > 0 ? "no connection to its "
		    "server: %s" : "it cannot be started: %s", strerror(error));
	default:
		return handle_exit(c);
	}
}

/*
 * The head of the response
 */

static void
add_fields(struct conn *c)
{
	const struct run	*run = c->request->run;
	struct buf		*work = &c->http->work;
	struct str		 name, value;
	uint32_t		 at = 0;

	while (cgi_head_next(&run->parse, run->head.at, &at, &name, &value)) {
		if (cgi_head_is_own(name) ||
		    (run->chain != NULL && passage_drops(name)))
			continue;
		buf_add(work, name.at, name.len);
		buf_adds(work, ": ");
		if (run->chain != NULL &&
		    str_same_nocase(name, STR("Content-Type")))
			passage_add_type(c, value, work);
		else
			buf_add(work, value.at, value.len);
		buf_adds(work, "\r\n");
	}
}

/* Whether the program has sent a field itself. */
static bool
has_field(const struct run *run, struct str field)
{
	struct str	name, value;
	uint32_t	at = 0;

	while (cgi_head_next(&run->parse, run->head.at, &at, &name, &value))
		if (str_same_nocase(name, field))
			return true;
	return false;
}

/* Adds the conf's fields, but for those that the program has sent. */
static void
add_conf_fields(struct conn *c, int status)
{
	const struct run	*run = c->request->run;
	const struct conf_rules	*rules = rules_of(c->request);
	const char		*line = status < 400 ? rules->field_lines :
				    rules->always_lines;
	size_t			 len;

	if (rules->nosniff && run->parse.type.len > 0 &&
	    !has_field(run, STR("X-Content-Type-Options")))
		buf_adds(&c->http->work,
		    "X-Content-Type-Options: nosniff\r\n");
	for (; *line != '\0'; line += len) {
		len = strcspn(line, "\n") + 1;
		if (!has_field(run, (struct str){ line, strcspn(line, ":") }))
			buf_add(&c->http->work, line, len);
	}
}

/* Decides how the end of the body is told: by its length, in chunks, or by the
 * end of the connection.  205 says that it has none (RFC 9110, section
 * 15.3.6). */
static void
choose_framing(struct conn *c, int status)
{
	struct request	*r = c->request;
	struct run	*run = r->run;
	bool		 without = status == 204 || status == 304;

	run->bodiless = without || status == 205 ||
	    r->parse.method == METHOD_HEAD;
	run->left = without || run->chain != NULL ? -1 : status == 205 ? 0 :
	    run->parse.length;
	if (run->bodiless || run->left != -1)
		return;
	run->chunked = r->parse.minor >= 1;
	if (run->chunked)
		return;
	c->close = true;
	r->response.head_kind = 1;
}

void
answer_put_head(struct conn *c)
{
	struct request	*r = c->request;
	struct run	*run = r->run;
	struct buf	*work = &c->http->work;
	int		 status = run->parse.status;
	struct str	 reason = { run->head.at + run->parse.reason.at,
			    run->parse.reason.len };

	if (status == 0)
		status = run->parse.location.len > 0 ? 302 : 200;
	if (reason.len == 0)
		reason = str_of(status_reason(status));
	choose_framing(c, status);
	fields_begin_answer(c, status, reason);
	add_fields(c);
	add_conf_fields(c, status);
	if (run->left != -1) {
		buf_adds(work, "Content-Length: ");
		buf_add_number(work, (uint64_t)run->left);
		buf_adds(work, "\r\n");
	} else if (run->chunked)
		buf_adds(work, "Transfer-Encoding: chunked\r\n");
	if (run->kept != NULL)
		kept_add_fields(c);
	fields_end(c);
	output_write(conn_output(c), work->at, work->len);
	r->response.status = (uint16_t)status;
	r->response.answered = true;
	r->response.head_sent = (uint32_t)work->len;
	buf_consume(&run->head, run->parse.size);
}

/*
 * The step
 */

/* Takes output up to the length of the longest head. */
static bool
take_output(struct conn *c)
{
	struct run	*run = c->request->run;
	size_t		 n = MIN(run->backend->len,
			    CGI_HEAD_MAX + 1 - run->head.len);

	if (n == 0)
		return false;
	buf_add(&run->head, run->backend->at, n);
	c->http->backends.consume(run->backend, n);
	run->deadline = c->http->clock->ms + run->program->silence;
	leave_put_off(c);
	return true;
}

/* Counts the time since the last one. */
static void
note_time(struct conn *c, enum program_stats_histogram what)
{
	struct run	*run = c->request->run;
	int64_t		 now = clock_us();

	program_stats_time(run->program->number, what, now - run->since);
	run->since = now;
}

/* The time for the answer begins when the program does. */
static void
note_start(struct conn *c)
{
	struct run	*run = c->request->run;

	if (run->started || !run->backend->started)
		return;
	run->started = true;
	run->deadline = c->http->clock->ms + run->program->answer;
	stats_count(STATS_PROGRAMS_STARTED);
	if (run->resends == 0)		/* a request waits once */
		note_time(c, PROGRAM_STATS_HISTOGRAM_WAIT);
}

static enum go
handle_timeout(struct conn *c)
{
	const struct run	*run = c->request->run;

	stats_count(STATS_PROGRAMS_LATE);
	run_count(c, PROGRAM_STATS_LATE);
	return failure_reply(c, WHY_PROGRAM_LATE, run->next == RUN_AUTHORIZED ?
	    "it did not end its answer in time (silence)" :
	    run->head.len > 0 ?
	    "it was silent in the middle of its head (silence)" :
	    "it took too long to answer (answer)");
}

/* Goes on behind an answer of which the client gets nothing, or its fields. */
static enum go
end_unsent(struct conn *c)
{
	struct run	*run = c->request->run;

	if (run->next != RUN_AUTHORIZED)
		return redirect_begin(c);
	return run->backend->end == BACKEND_COMPLETE ? authorizer_pass(c) :
	    handle_end(c);
}

/* Waits until the program of such an answer has ended, for `silence`; what else
 * it writes is dropped. */
static enum go
await_end(struct conn *c, enum outcome outcome)
{
	struct run	*run = c->request->run;

	if (run->backend->len > 0) {
		c->http->backends.consume(run->backend, run->backend->len);
		leave_put_off(c);
	}
	if (outcome == OUTCOME_TIMED_OUT)
		return run->next != RUN_AUTHORIZED ? redirect_begin(c) :
		    handle_timeout(c);
	return run->backend->end == BACKEND_RUNS ? feed_wait(c) : end_unsent(c);
}

static enum go
handle_admission(struct conn *c)
{
	struct run	*run = c->request->run;
	struct str	 wrong;

	if (authorizer_take(run, &wrong)) {
		run->next = RUN_AUTHORIZED;
		return await_end(c, OUTCOME_NONE);
	}
	stats_count(STATS_PROGRAMS_FAILED);
	return failure_reply(c, WHY_PROGRAM_ANSWER, "its field %.*s names no "
	    "variable that it may set", (int)wrong.len, wrong.at);
}

static enum go
begin_response(struct conn *c)
{
	struct run	*run = c->request->run;

	answer_put_head(c);
	run->deadline = c->http->clock->ms + run->program->silence;
	return conn_go(c, STEP_RELAY);
}

static enum go
handle_head(struct conn *c)
{
	struct run	*run = c->request->run;

	note_time(c, PROGRAM_STATS_HISTOGRAM_ANSWER);
	if (run->authorizes && authorizer_admits(run))
		return handle_admission(c);
	if (run->authorizes)
		authorizer_refuse(c);
	run->next = (uint8_t)redirect_choose(run);
	if (run->next != RUN_RELAY)
		return await_end(c, OUTCOME_NONE);
	if (run->parse.file.len > 0 && run->program->sendfile.n == 0)
		refusal_log_sendfile(c);
	run->chain = passage_choose(c);
	if (run->chain == NULL || c->request->parse.method == METHOD_HEAD)
		return begin_response(c);
	passage_begin(c);
	return GO_ON;
}

enum go
answer_step(struct conn *c)
{
	struct run	*run = c->request->run;
	enum outcome	 outcome = leave_outcome(c);
	enum go		 go;
	bool		 more;

	if (is_failure(outcome) && outcome != OUTCOME_TIMED_OUT)
		return conn_abort(c);		/* its client has gone */
	if (feed_has_failed(c, outcome))
		return failure_of_body(c);
	if (run->next != RUN_RELAY)
		return await_end(c, outcome);
	if (run->passage != NULL)
		return passage_await(c, outcome, &go) ? begin_response(c) : go;
	note_start(c);
	more = take_output(c);
	switch (cgi_head_feed(&run->parse, run->head.at, run->head.len)) {
	case CGI_HEAD_DONE:
		return handle_head(c);
	case CGI_HEAD_REFUSED:
		stats_count(STATS_PROGRAMS_FAILED);
			return failure_reply(c, WHY_PROGRAM_ANSWER, "%s",
		    run->parse.why);
	default:
		break;
	}
	if (run->backend->end != BACKEND_RUNS)
		return handle_end(c);
	return outcome == OUTCOME_TIMED_OUT && !more ? handle_timeout(c) :
	    feed_wait(c);
}
