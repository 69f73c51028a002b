/*
 * spool: has a helper write bytes of a request's body to a file in memory, as
 * that may wait for memory.
 *
 * The task owns its bytes, and may outlive the request.  It is forgotten where
 * it was submitted, so no other thread has a part in it.
 */
#include <errno.h>
#include <stdlib.h>

#include "http/programs/run.h"
#include "http/reply.h"
#include "http/tasks.h"
#include "lib/io.h"
#include "lib/mem.h"

static void
complete_spool(struct task *e)
{
	struct spool	*s = (struct spool *)e;
	struct run	*run = s->run;

	if (run == NULL) {
		if (!e->job.spool.has_file)
			io_close(&e->job.fd);
		return;
	}
	run->body.error = e->job.error;
	if (e->job.error == 0) {
		run->body.length += (int64_t)s->bytes.len;
		program_stats_add(run->program->number, PROGRAM_STATS_SPOOLED,
		    s->bytes.len);
		run->body.fd = e->job.fd;
	} else if (!e->job.spool.has_file)
		io_close(&e->job.fd);
	run->body.spool = NULL;
}

static void
free_spool(struct task *e)
{
	struct spool	*s = (struct spool *)e;

	io_close(&s->file);
	buf_wipe(&s->bytes);
	free(s);
}

/* Submits what is kept of the body; NULL: that is done at once. */
static struct task *
submit_spool(struct conn *c)
{
	struct run	*run = c->request->run;
	struct spool	*s = mem_zero(sizeof(*s));
	struct job	*job = &s->task.job;

	tasks_init(c->http, &s->task, JOB_SPOOL, complete_spool, free_spool);
	s->bytes = run->body.bytes;
	run->body.bytes = (struct buf){ 0 };
	s->file = -1;
	s->run = run;
	job->fd = run->body.fd;
	job->spool.has_file = run->body.fd != -1;
	job->spool.offset = run->body.length;
	job->spool.bytes = (struct str){ s->bytes.at, s->bytes.len };
	run->body.spool = s;
	c->request->disk.deadline = 0;
	return tasks_submit(c->http, &s->task) == SUBMITTED_PENDING ?
	    &s->task : NULL;
}

enum go
spool_step(struct conn *c)
{
	struct run	*run = c->request->run;
	enum outcome	 outcome = conn_outcome(c);
	struct task	*task;

	if (is_failure(outcome)) {
		run_drop_body(c);
		return reply_error_close(c, reply_why(c, WHY_DISK_LATE));
	}
	/* Sent first: then the step waits where it has submitted. */
	if (conn_has_output(c))
		return conn_send(c, STEP_SPOOL);
	if (run->body.error == 0 && run->body.bytes.len > 0) {
		task = submit_spool(c);
		if (task != NULL)
			return conn_wait_disk(c, task);
	}
	if (run->body.error == 0)
		return conn_go(c, STEP_COLLECT);
	run_drop_body(c);
	return reply_error_close(c, reply_why(c,
	    why_of_error(run->body.error)));
}
