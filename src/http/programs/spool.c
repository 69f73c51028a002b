/*
 * spool: has a helper write bytes of a request's body to a file without a name,
 * in memory or on a disk, as that may wait.
 */
#include <errno.h>
#include <string.h>

#include "http/programs/run.h"
#include "http/reply.h"
#include "lib/io.h"
#include "stats/stats.h"

/* The body has a new file, in place of one in memory or of none. */
static void
take_file(struct run *run, const struct job *job)
{
	io_close(&run->body.fd);
	run->body.fd = job->fd;
	run->body.device = job->spool.device;
}

static void
complete_spool(struct task *e)
{
	struct spool	*s = (struct spool *)e;
	struct run	*run = s->run;
	bool		 has_new = e->job.error == 0 &&
			    job_makes_file(&e->job);

	if (run == NULL) {
		if (has_new)
			run_body_close_new(s);
		return;
	}
	run->body.spool = NULL;
	run->body.error = e->job.error;
	if (has_new)
		take_file(run, &e->job);
	if (e->job.error != 0)
		return;
	run->body.length += (int64_t)s->bytes.len;
	program_stats_add(run->program->number, PROGRAM_STATS_SPOOLED,
	    s->bytes.len);
}

/* Submits what is kept of the body. */
static struct task *
submit_bytes(struct conn *c)
{
	struct run	*run = c->request->run;
	struct spool	*s = run_body_task(c, JOB_SPOOL, complete_spool);
	struct job_spool *job = &s->task.job.spool;

	s->bytes = run->body.bytes;
	run->body.bytes = (struct buf){ 0 };
	job->has_file = run->body.fd != -1;
	job->offset = run->body.length;
	job->bytes = (struct str){ s->bytes.at, s->bytes.len };
	job->device = run->body.device;
	if (run->body.on_disk && run->body.device == 0) {
		job->directory = c->http->conf->limits.spool;
		stats_count(STATS_BODIES_ON_DISK);
	}
	return run_body_submit(c, s);
}

/* An error of a disk is the administrator's business. */
static enum go
handle_error(struct conn *c, int error)
{
	if (!c->request->run->body.on_disk) {
		run_body_drop(c);
		return reply_error_close(c, reply_why(c,
		    why_of_error(error)));
	}
	stats_count(STATS_BODIES_LOST);
	c->close = c->linger = true;
	c->request->response.head_kind = 1;
	return failure_reply(c, run_body_why(error), "the body of its request "
	    "cannot be kept in %s: %s", c->http->conf->limits.spool,
	    strerror(error));
}

enum go
spool_step(struct conn *c)
{
	struct run	*run = c->request->run;
	enum outcome	 outcome = conn_outcome(c);
	struct task	*task;

	if (is_failure(outcome))
		return handle_error(c, ETIMEDOUT);
	/* Sent first: then the step waits where it has submitted. */
	if (conn_has_output(c))
		return conn_send(c, STEP_SPOOL);
	if (run->body.error == 0 && run->body.bytes.len > 0) {
		task = submit_bytes(c);
		if (task != NULL)
			return conn_wait_disk(c, task);
	}
	if (run->body.error == 0)
		return conn_go(c, STEP_COLLECT);
	return handle_error(c, run->body.error);
}
