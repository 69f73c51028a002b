/*
 * task_queue: two queues, and whose turn it is.
 */
#include <errno.h>

#include "disk/task_queue.h"
#include "lib/need.h"

#define TURNS	4	/* one of these is leisure's */

void
backlog_init(struct backlog *b, size_t most)
{
	*b = (struct backlog){ .most = most };
	TAILQ_INIT(&b->urgent);
	TAILQ_INIT(&b->leisure);
}

static struct errand_list *
list_of(struct backlog *b, const struct errand *e)
{
	return e->leisure ? &b->leisure : &b->urgent;
}

static void
count_in(struct backlog *b, struct errand *e)
{
	need(!e->queued);
	e->queued = true;
	b->n++;
	b->nleisure += e->leisure;
}

void
backlog_put(struct backlog *b, struct errand *e)
{
	count_in(b, e);
	TAILQ_INSERT_TAIL(list_of(b, e), e, link);
}

void
backlog_put_first(struct backlog *b, struct errand *e)
{
	count_in(b, e);
	TAILQ_INSERT_HEAD(list_of(b, e), e, link);
}

/* A piece of a response that may have begun: it is not to be cut short, and
 * there are no more of them than connections. */
static bool
goes_on(const struct job *job)
{
	return job->kind == JOB_READ || job->kind == JOB_COPY;
}

static bool
has_room(const struct backlog *b, const struct errand *e)
{
	size_t	before = e->leisure ? b->nleisure : b->n - b->nleisure;

	return before < b->most || goes_on(&e->job);
}

bool
backlog_add(struct backlog *b, struct errand *e)
{
	if (!has_room(b, e)) {
		e->job.error = e->leisure ? ECANCELED : EAGAIN;
		return false;
	}
	backlog_put(b, e);
	return true;
}

void
backlog_remove(struct backlog *b, struct errand *e)
{
	need(e->queued);
	TAILQ_REMOVE(list_of(b, e), e, link);
	e->queued = false;
	b->n--;
	b->nleisure -= e->leisure;
}

struct errand *
backlog_next(struct backlog *b)
{
	struct errand	*urgent = TAILQ_FIRST(&b->urgent);
	struct errand	*leisure = TAILQ_FIRST(&b->leisure);
	struct errand	*e = urgent != NULL ? urgent : leisure;

	if (urgent != NULL && leisure != NULL && ++b->turn % TURNS == 0)
		e = leisure;
	if (e != NULL)
		backlog_remove(b, e);
	return e;
}
