/*
 * run_body: tasks about the file of a body, and its end.
 *
 * A task owns its bytes, and may outlive the request.  It is forgotten where it
 * was submitted, so no other thread has a part in it.
 */
#include <stdlib.h>

#include "http/deferred_close.h"
#include "http/programs/run.h"
#include "http/tasks.h"
#include "lib/io.h"
#include "lib/mem.h"

static void
close_file(struct http_loop *http, int *fd, uint64_t device)
{
	struct job_range	range = { .version.dev = device };

	if (*fd == -1 || device == 0) {
		io_close(fd);
		return;
	}
	deferred_close_fd(http, *fd, &range);
	*fd = -1;
}

static void
free_spool(struct task *e)
{
	struct spool	*s = (struct spool *)e;

	close_file(s->http, &s->file, s->device);
	buf_wipe(&s->bytes);
	free(s);
}

struct spool *
run_body_task(struct conn *c, enum job_kind kind,
    void (*complete)(struct task *))
{
	struct run	*run = c->request->run;
	struct spool	*s = mem_zero(sizeof(*s));

	tasks_init(c->http, &s->task, kind, complete, free_spool);
	s->http = c->http;
	s->run = run;
	s->file = -1;
	s->task.job.fd = run->body.fd;
	return s;
}

struct task *
run_body_submit(struct conn *c, struct spool *s)
{
	c->request->run->body.spool = s;
	c->request->disk.deadline = 0;
	return tasks_submit(c->http, &s->task) == SUBMITTED_PENDING ?
	    &s->task : NULL;
}

void
run_body_close_new(struct spool *s)
{
	close_file(s->http, &s->task.job.fd, s->task.job.spool.device);
}

enum why
run_body_why(int error)
{
	enum why	why = why_of_error(error);

	return why == WHY_DISK_LATE || why == WHY_DISK_BUSY ? why : WHY_SPOOL;
}

/* A helper may still be sent the descriptor, so the task keeps it. */
static void
forget_spool(struct run *run)
{
	run->body.spool->file = run->body.fd;
	run->body.spool->device = run->body.device;
	run->body.fd = -1;
	run->body.spool->run = NULL;
	run->body.spool = NULL;
}

void
run_body_close(struct conn *c)
{
	struct run	*run = c->request->run;

	close_file(c->http, &run->body.fd, run->body.device);
}

void
run_body_drop(struct conn *c)
{
	struct run	*run = c->request->run;

	if (run->body.spool != NULL)
		forget_spool(run);
	run_body_close(c);
	buf_wipe(&run->body.bytes);
	if (run->body.on_disk)
		c->http->caches->spooled -= run->body.counted;
	else
		c->http->caches->bodies -= run->body.counted;
	run->body.counted = 0;
}
