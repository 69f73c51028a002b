/*
 * feed: passes the body of a request on to a program that runs.
 *
 * A body on a disk that goes over a connection is copied into memory piece by
 * piece, by a helper, as main must not wait for a disk.  Another body comes
 * from the client, if the conf says that its program does not wait for the
 * whole of it.  While the program has no room for more, nothing is read, so the
 * client must wait.
 *
 * A step that is about to wait for the program goes here first, if the program
 * takes more of the body, and back.  That step also ends a request whose body
 * fails.
 */
#include <sys/param.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "http/park.h"
#include "http/programs/passage.h"
#include "http/programs/run.h"
#include "lib/io.h"
#include "stats/stats.h"

#define READS_MAX	16	/* before other connections have their turn */

/* Whether a part of the body can go to the program now. */
static bool
is_due(const struct run *run)
{
	return run->body.is_fed && !run->body.is_dry &&
	    run->backend->room > 0 && run->backend->end == BACKEND_RUNS;
}

static enum go
go_back(struct conn *c)
{
	c->request->run->body.is_back = true;
	return conn_go(c, (enum step)c->request->run->body.feeder);
}

static enum go
fail_body(struct conn *c, enum why why)
{
	struct run	*run = c->request->run;

	run->body.is_fed = false;
	run->body.has_failed = true;
	run->body.why = (uint8_t)why;
	return go_back(c);
}

/* The program's time begins anew, but not that of the filters of its answer. */
static void
put_off(struct conn *c)
{
	struct run	*run = c->request->run;

	if (run->passage == NULL || run->passage->awaits_source)
		run->deadline = c->http->clock->ms +
		    (run->passage != NULL || c->request->response.answered ?
		    run->program->silence : run->program->answer);
}

/* Passes on what has come. */
static void
send_bytes(struct conn *c)
{
	struct run	*run = c->request->run;
	size_t		 n = MIN(run->body.bytes.len, run->backend->room);

	if (n == 0)
		return;
	c->http->backends.send(run->backend, run->body.bytes.at, n);
	buf_consume(&run->body.bytes, n);
	if (run->body.comes)
		run->body.length += (int64_t)n;
	put_off(c);
}

/* The program has all of the body. */
static enum go
finish_body(struct conn *c)
{
	struct run	*run = c->request->run;

	c->http->backends.finish(run->backend);
	run->body.is_fed = false;
	run_body_close(c);
	return go_back(c);
}

/*
 * A body on a disk
 */

/* Takes the copy of a piece; 0 or an errno. */
static int
take_piece(struct run *run, const struct job *job)
{
	size_t	length = (size_t)job->range.done;
	ssize_t	n;

	if (job->error != 0)
		return job->error;
	buf_reserve(&run->body.bytes, length);
	n = pread(job->fd, run->body.bytes.at + run->body.bytes.len, length, 0);
	if (n == -1)
		return errno;
	if (n == 0 || (size_t)n < length)
		return EIO;
	run->body.bytes.len += length;
	run->body.fed += (int64_t)length;
	return 0;
}

/* Ends a job whose descriptor is that of the copy, or still the body's. */
static void
complete_copy(struct task *e)
{
	struct spool	*s = (struct spool *)e;

	if (s->run != NULL) {
		s->run->body.error = take_piece(s->run, &e->job);
		s->run->body.spool = NULL;
	}
	if (e->job.error == 0)
		io_close(&e->job.fd);
}

static struct task *
submit_copy(struct conn *c)
{
	struct run	*run = c->request->run;
	struct spool	*s = run_body_task(c, JOB_COPY, complete_copy);
	struct job_range *range = &s->task.job.range;

	range->offset = run->body.fed;
	range->length = (uint64_t)MIN(RUN_BODY_KEPT,
	    run->body.length - run->body.fed);
	range->version.dev = run->body.device;
	return run_body_submit(c, s);
}

static enum go
fail_by_disk(struct conn *c, int error)
{
	struct run	*run = c->request->run;

	stats_count(STATS_BODIES_LOST);
	run->body.error = error;
	buf_addf(&run->cause, "the body of its request cannot be read back: "
	    "%s", strerror(error));
	return fail_body(c, run_body_why(error));
}

/* Whether the next piece is to be copied. */
static bool
wants_piece(const struct run *run)
{
	return run->body.error == 0 && run->body.bytes.len == 0 &&
	    run->body.fed < run->body.length && is_due(run);
}

static enum go
feed_from_disk(struct conn *c)
{
	struct run	*run = c->request->run;
	enum outcome	 outcome = conn_outcome(c);
	struct task	*task;

	if (is_failure(outcome))
		return fail_by_disk(c, ETIMEDOUT);
	if (wants_piece(run)) {
		task = submit_copy(c);
		if (task != NULL)
			return conn_wait_disk(c, task);
	}
	if (run->body.error != 0)
		return fail_by_disk(c, run->body.error);
	send_bytes(c);
	if (run->body.bytes.len == 0 && run->body.fed == run->body.length &&
	    run->backend->end == BACKEND_RUNS)
		return finish_body(c);
	return go_back(c);
}

/*
 * A body that comes from the client
 */

/* Goes back to wait. */
static enum go
pause_feed(struct conn *c)
{
	c->request->run->body.is_dry = true;
	return go_back(c);
}

/* Asks for more.  If the client waits for 100 (Continue), and has got the
 * answer before that, it sends no body. */
static enum go
read_more(struct conn *c)
{
	struct run	*run = c->request->run;

	if (c->request->discard.expect_continue) {
		if (c->request->response.answered)
			return finish_body(c);
		recv_put_continue(c);
		return conn_send(c, STEP_FEED);
	}
	return run->body.reads == READS_MAX ? pause_feed(c) : recv_try(c);
}

/* Takes the body's bytes that are in the input; false: they are refused. */
static bool
take_input(struct conn *c, enum go *go)
{
	enum chunked_result	 result = collect_input(c);
	bool			 good = result != CHUNKED_REFUSED &&
				    !collect_exceeds(c);

	c->request->discard.expect_continue = false;
	c->request->run->body.whole = good && result == CHUNKED_DONE;
	if (!good)
		*go = fail_body(c, result == CHUNKED_REFUSED ? WHY_NONE :
		    WHY_PROGRAM_BODY);
	return good;
}

/* Passes on what has come, and asks for more. */
static enum go
pass_on(struct conn *c)
{
	struct run	*run = c->request->run;
	enum go		 go = GO_ON;

	while (is_due(run)) {
		if (c->input_len > c->request->parse.size &&
		    run->body.bytes.len == 0 && !run->body.whole &&
		    !take_input(c, &go))
			return go;
		send_bytes(c);
		if (run->body.bytes.len > 0)
			continue;
		if (run->body.whole)
			return finish_body(c);
		if (c->input_len == c->request->parse.size)
			return read_more(c);
	}
	run->body.reads = 0;
	return go_back(c);
}

static enum go
feed_from_client(struct conn *c)
{
	struct run	*run = c->request->run;
	enum outcome	 outcome = conn_outcome(c);

	if (outcome == OUTCOME_TIMED_OUT)
		return pause_feed(c);
	if (is_failure(outcome) ||
	    (outcome == OUTCOME_READY && c->wait.n == -1))
		return conn_abort(c);
	if (outcome == OUTCOME_READY && c->wait.n == 0)
		return fail_body(c, WHY_BODY_CUT);
	if (outcome == OUTCOME_READY) {
		recv_take(c);
		run->body.reads++;
		run->body.gap = 0;
	}
	return pass_on(c);
}

/* Whether the deadline of filters is before that time. */
static bool
may_filters_be_late(const struct run *run, int64_t before)
{
	return run->passage != NULL && !run->passage->awaits_source &&
	    run->deadline < before;
}

/* Waits for the client and for the program.  The client may pause between bytes
 * as long as with any body.  The time for the whole body also runs while the
 * program makes the client wait. */
static enum go
wait_for_both(struct conn *c)
{
	struct request	*r = c->request;
	struct run	*run = r->run;
	unsigned	 flags = WAIT_INPUT;
	bool		 is_last;

	if (run->body.reads == READS_MAX)
		flags |= WAIT_LATER;
	run->body.reads = 0;
	run->body.is_dry = false;
	recv_body_begin(c);
	if (run->body.gap == 0)
		run->body.gap = c->http->clock->ms + c->http->conf->limits.gap;
	is_last = r->discard.deadline <= run->body.gap;
	if (may_filters_be_late(run, MIN(r->discard.deadline, run->body.gap)))
		return conn_wait(c, WAIT_BACKEND, TIMEOUT_PROGRAM,
		    run->deadline, flags);
	conn_wait(c, WAIT_BACKEND, is_last ? TIMEOUT_BODY : TIMEOUT_READ,
	    MIN(r->discard.deadline, run->body.gap), flags);
	c->wait.term = is_last ? r->discard.term : 0;
	return GO_WAIT;
}

/*
 * The step, and those that wait
 */

enum go
feed_step(struct conn *c)
{
	return c->request->run->body.comes ? feed_from_client(c) :
	    feed_from_disk(c);
}

enum go
feed_wait(struct conn *c)
{
	struct run	*run = c->request->run;

	if (is_due(run)) {
		run->body.feeder = c->step;
		return conn_go(c, STEP_FEED);
	}
	c->wait.backend = run->passage != NULL ? &run->passage->output :
	    run->backend;
	if (run->body.is_dry)
		return wait_for_both(c);
	run->body.gap = 0;
	return leave_wait(c);
}

bool
feed_has_failed(struct conn *c, enum outcome outcome)
{
	struct run	*run = c->request->run;

	if (outcome == OUTCOME_TIMED_OUT &&
	    c->wait.timeout != TIMEOUT_PROGRAM) {
		run->body.has_failed = true;
		run->body.why = WHY_BODY_LATE;
	}
	return run->body.has_failed;
}

void
feed_leave(struct conn *c)
{
	struct run	*run = c->request->run;

	if (!run->body.comes || run->body.whole)
		return;
	run->body.whole = collect_input(c) == CHUNKED_DONE;
	buf_wipe(&run->body.bytes);
	if (run->body.whole)
		return;
	c->close = c->linger = true;
	c->request->response.head_kind = 1;
}
