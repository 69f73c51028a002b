/*
 * deferred_close: makes a task that no connection waits for, of a descriptor to
 * be closed.
 *
 * Must not use a cache, as it is called with a cache locked.
 */
#include <stdlib.h>

#include "http/deferred_close.h"
#include "http/tasks.h"
#include "lib/io.h"
#include "lib/mem.h"
#include "stats/stats.h"

struct deferred_close {
	struct task		 task;	/* first member: casts rely on it */
	struct http_loop	*http;
};

/* Closes a descriptor that the job has not closed. */
static void
complete_close(struct task *e)
{
	io_close(&e->job.fd);
}

static void
free_close(struct task *e)
{
	struct deferred_close	*cl = (struct deferred_close *)e;

	cl->http->caches->deferred_closes--;
	free(cl);
}

/* Whether the descriptor is the second one of a file that stays open, to give
 * back a part: then its close does not wait, and nobody waits for the task. */
static bool
is_part(const struct job_range *range)
{
	return range->length > 0 &&
	    range->length < (uint64_t)range->version.size;
}

void
deferred_close_fd(void *context, int fd, const struct job_range *range)
{
	struct http_loop	*http = context;
	struct caches		*caches = http->caches;
	bool			 part = is_part(range);
	size_t			 max = caches->deferred_closes_max;
	struct deferred_close	*cl;

	if (caches->deferred_closes++ >= (part ? max / 2 : max)) {
		caches->deferred_closes--;
		io_close(&fd);
		return;
	}
	cl = mem_zero(sizeof(*cl));
	cl->http = http;
	tasks_init(http, &cl->task, JOB_CLOSE, complete_close, free_close);
	cl->task.background = part;
	cl->task.job.fd = fd;
	cl->task.job.range = *range;
	stats_count(STATS_CLOSES);
	tasks_submit(http, &cl->task);
}
