/*
 * relay: passes the body of a program's answer on.
 *
 * Output is sent as soon as it comes.  When the body is whole by its length, or
 * none is to be sent, the step still waits for the program's end: a program may
 * work on behind its answer, and the end of a request ends its program.
 */
#include <sys/param.h>

#include "http/log/refusal.h"
#include "http/programs/passage.h"
#include "http/programs/run.h"
#include "lib/compiler.h"
#include "stats/stats.h"

#define RELAY_MAX	(64 * 1024)	/* bytes at a time */

/* Whether all of the body has come.  If the client does not know the length, it
 * still needs the end of the response. */
static bool
is_whole(const struct run *run)
{
	return run->bodiless || run->left == 0;
}

/* Writes the line of a chunk's size; returns its length. */
static size_t
write_size(size_t n, char to[20])
{
	static const char	digits[] = "0123456789abcdef";
	size_t			len = 0;
	int			shift = 0;

	while (n >> shift > 15)
		shift += 4;
	for (; shift >= 0; shift -= 4)
		to[len++] = digits[n >> shift & 15];
	to[len++] = '\r';
	to[len++] = '\n';
	return len;
}

/* Puts out bytes of the body. */
static void
put_bytes(struct conn *c, const char *at, size_t len)
{
	struct run	*run = c->request->run;
	struct output	*o = conn_output(c);
	char		 size[20];

	if (run->bodiless)
		return;
	if (run->chunked)
		output_write(o, size, write_size(len, size));
	output_write(o, at, len);
	if (run->chunked)
		output_write(o, "\r\n", 2);
	if (run->left != -1)
		run->left -= (int64_t)len;
	c->request->body.sent += (int64_t)len;
}

/* How many of so many bytes are to be put out at once. */
static size_t
limit_bytes(const struct run *run, size_t len)
{
	if (!run->bodiless && run->left != -1)
		len = (size_t)MIN((int64_t)len, run->left);
	return MIN(len, RELAY_MAX);
}

/* The source of the body: the program, or the last of its filters. */
static const struct backend *
get_output(const struct run *run)
{
	return run->passage != NULL ? &run->passage->output : run->backend;
}

static void
consume_output(struct conn *c, size_t n)
{
	struct run	*run = c->request->run;

	if (run->passage != NULL)
		c->http->backends.take(run->passage, n);
	else
		c->http->backends.consume(run->backend, n);
}

/* Puts out the next bytes; false: there are none now. */
static bool
put_next(struct conn *c)
{
	struct run	*run = c->request->run;
	size_t		 n = limit_bytes(run, run->head.len);

	if (n > 0) {
		put_bytes(c, run->head.at, n);
		buf_consume(&run->head, n);
		return true;
	}
	n = limit_bytes(run, get_output(run)->len);
	if (n == 0)
		return false;
	put_bytes(c, get_output(run)->at, n);
	consume_output(c, n);
	return true;
}

/* Whether there is output beyond the length that the program has named. */
static bool
is_too_long(const struct run *run)
{
	return run->left == 0 && !run->bodiless &&
	    run->head.len + run->backend->len > 0;
}

/* Whether the program writes what nobody reads, as the filters have ended: a
 * pipeline would end it by SIGPIPE. */
static bool
is_unread(const struct conn *c)
{
	const struct run	*run = c->request->run;

	return run->chain != NULL && run->passage == NULL &&
	    c->request->parse.method != METHOD_HEAD &&
	    run->head.len + run->backend->len > 0;
}

/* Whether the time is over that the program may work on behind a response
 * that is whole.  Bytes that are dropped do not put it off. */
static bool
is_over(const struct conn *c)
{
	const struct run	*run = c->request->run;

	return run->bodiless && run->passage == NULL &&
	    c->http->clock->ms >= run->deadline;
}

/* Ends a response that is whole; the client may have gone since. */
static enum go
end_whole(struct conn *c)
{
	feed_leave(c);
	run_count(c, PROGRAM_STATS_ANSWERED);
	run_end(c);
	return conn_send(c, STEP_FINISH);
}

/* Ends a response that is not whole in a way that the client notices. */
static COLD enum go
break_response(struct conn *c)
{
	const struct run	*run = c->request->run;

	run_end(c);
	return run->chunked || run->left != -1 ? conn_abort(c) : conn_reset(c);
}

/* The same, with a line in the log. */
static COLD enum go
cut_response(struct conn *c, const char *cause)
{
	buf_adds(&c->request->run->cause, cause);
	refusal_log_cut(c);
	return break_response(c);
}

/* Ends a response as the body of the request has failed; a fault of its client
 * is not logged. */
static COLD enum go
handle_failed_body(struct conn *c)
{
	const struct run	*run = c->request->run;

	if (is_whole(run))
		return end_whole(c);
	if (run->body.error != 0)
		refusal_log_cut(c);
	return break_response(c);
}

/* Ends a response as a filter has failed, or the answer is not whole. */
static COLD enum go
cut_passage(struct conn *c)
{
	const char	*cause = passage_cause(c);
	bool		 was_whole = c->request->run->passage->output.end !=
			    BACKEND_BROKEN;

	if (!was_whole)
		stats_count(STATS_PROGRAMS_FAILED);
	run_count(c, was_whole ? PROGRAM_STATS_ANSWERED :
	    PROGRAM_STATS_FAILED);
	run_end_passage(c);
	return cut_response(c, cause);
}

/* Handles the end of the filters: the program may work on, as behind an answer
 * that is whole. */
static COLD enum go
end_passage(struct conn *c)
{
	struct run	*run = c->request->run;

	if (run->passage->output.end != BACKEND_COMPLETE)
		return conn_has_output(c) ? conn_send(c, STEP_RELAY) :
		    cut_passage(c);
	if (run->chunked)
		output_write(conn_output(c), "0\r\n\r\n", 5);
	run->bodiless = true;
	run->deadline = c->http->clock->ms + run->program->silence;
	run_end_passage(c);
	return conn_has_output(c) ? conn_send(c, STEP_RELAY) : GO_ON;
}

/* Handles the program's end. */
static enum go
end_body(struct conn *c)
{
	struct run	*run = c->request->run;

	if (is_whole(run))
		return end_whole(c);
	if (conn_has_output(c) && (run->left > 0 ||
	    run->backend->end != BACKEND_COMPLETE))
		return conn_send(c, STEP_RELAY);
	if (run->backend->end != BACKEND_COMPLETE) {
		stats_count(STATS_PROGRAMS_FAILED);
		run_count(c, PROGRAM_STATS_FAILED);
		return cut_response(c, "it was ended in the middle of its "
		    "answer");
	}
	if (run->left > 0) {
		run_count(c, PROGRAM_STATS_FAILED);
		return cut_response(c, "its answer is shorter than its "
		    "Content-Length");
	}
	if (run->chunked)
		output_write(conn_output(c), "0\r\n\r\n", 5);
	return end_whole(c);
}

static COLD enum go
handle_too_long(struct conn *c)
{
	buf_adds(&c->request->run->cause, "its answer is longer than its "
	    "Content-Length");
	run_count(c, PROGRAM_STATS_FAILED);
	refusal_log_cut(c);
	c->close = true;
	return end_whole(c);
}

static COLD enum go
handle_timeout(struct conn *c)
{
	if (is_whole(c->request->run))
		return end_whole(c);
	if (c->request->run->passage != NULL && passage_is_late(c))
		return end_passage(c);
	stats_count(STATS_PROGRAMS_LATE);
	run_count(c, PROGRAM_STATS_LATE);
	return cut_response(c, "it was silent for too long (silence)");
}

/* Its client has gone. */
static COLD enum go
handle_failure(struct conn *c)
{
	if (!is_whole(c->request->run))
		return conn_abort(c);
	c->close = true;
	return end_whole(c);
}

enum go
relay_step(struct conn *c)
{
	struct run	*run = c->request->run;
	enum outcome	 outcome = leave_outcome(c);
	bool		 more;

	if (is_failure(outcome) && outcome != OUTCOME_TIMED_OUT)
		return handle_failure(c);
	if (feed_has_failed(c, outcome))
		return handle_failed_body(c);
	if (is_too_long(run))
		return handle_too_long(c);
	if (is_unread(c) || is_over(c))
		return end_whole(c);
	more = put_next(c);
	/* The time that the client takes to receive is not the program's. */
	if (run->passage != NULL)
		passage_put_off(c, more ? OUTCOME_NONE : outcome);
	else if (!run->bodiless && (more || outcome == OUTCOME_NONE)) {
		run->deadline = c->http->clock->ms + run->program->silence;
		leave_put_off(c);
	}
	if (more && run->head.len + get_output(run)->len > 0)
		return conn_has_output(c) ? conn_send(c, STEP_RELAY) : GO_ON;
	if (run->passage != NULL && run->passage->output.end != BACKEND_RUNS)
		return end_passage(c);
	if (run->passage == NULL && run->backend->end != BACKEND_RUNS)
		return end_body(c);
	if (conn_has_output(c))
		return conn_send(c, STEP_RELAY);
	return outcome == OUTCOME_TIMED_OUT && !more ? handle_timeout(c) :
	    feed_wait(c);
}
