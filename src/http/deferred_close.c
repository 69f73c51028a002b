/*
 * deferred_close: a task that nobody waits for, with the descriptor in it.
 *
 * Must not touch a cache: it is called in the middle of one.
 */
#include <stdlib.h>

#include "http/deferred_close.h"
#include "http/http.h"
#include "lib/io.h"
#include "lib/mem.h"
#include "stats/stats.h"

struct closing {
	struct task	 task;	/* first: casts rely on it */
	struct http_loop	*http;
};

/* If nobody has taken it, it is still open. */
static void
closing_done(struct task *e)
{
	io_close(&e->job.fd);
}

static void
closing_free(struct task *e)
{
	struct closing	*cl = (struct closing *)e;

	cl->http->store->closing--;
	free(cl);
}

void
closing_give(void *context, int fd, const struct job_version *version)
{
	struct http_loop	*http = context;
	struct store	*store = http->store;
	struct closing	*cl;

	if (store->closing++ >= store->closing_most) {
		store->closing--;
		io_close(&fd);
		return;
	}
	cl = mem_zero(sizeof(*cl));
	cl->http = http;
	job_init(&cl->task.job, JOB_CLOSE);
	cl->task.job.id = ++http->store->next_job;
	cl->task.job.fd = fd;
	cl->task.job.version = *version;	/* its file system */
	cl->task.complete = closing_done;
	cl->task.free = closing_free;
	stats_count(STATS_CLOSES);
	http->disk.submit(http->disk.context, &cl->task);
}
