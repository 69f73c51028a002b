/*
 * feed: passes the body of a request on to a program that runs.
 *
 * A body on a disk that goes over a connection is copied into memory piece by
 * piece, by a helper, as main must not wait for a disk.
 *
 * A step that is about to wait for the program goes here first, if the program
 * takes more of the body, and back.  That step also ends a request whose body
 * fails.
 */
#include <sys/param.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "http/programs/run.h"
#include "lib/io.h"
#include "stats/stats.h"

/* Whether a part of the body can go to the program now. */
static bool
is_due(const struct run *run)
{
	return run->body.is_fed && run->backend->room > 0 &&
	    run->backend->end == BACKEND_RUNS;
}

static enum go
go_back(struct conn *c)
{
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

/* Passes on what has come.  The program's time begins anew. */
static void
send_bytes(struct conn *c)
{
	struct run	*run = c->request->run;
	const struct conf_program *program = run->program;
	size_t		 n = MIN(run->body.bytes.len, run->backend->room);

	if (n == 0)
		return;
	c->http->backends.send(run->backend, run->body.bytes.at, n);
	buf_consume(&run->body.bytes, n);
	run->deadline = c->http->clock->ms + (c->request->response.answered ?
	    program->silence : program->answer);
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

/* The job's descriptor is that of the copy, or still the body's. */
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

enum go
feed_step(struct conn *c)
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

enum go
feed_wait(struct conn *c)
{
	struct run	*run = c->request->run;

	if (is_due(run)) {
		run->body.feeder = c->step;
		return conn_go(c, STEP_FEED);
	}
	c->wait.backend = run->backend;
	return conn_wait(c, WAIT_BACKEND, TIMEOUT_PROGRAM, run->deadline, 0);
}
