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

static struct task_list *
list_of(struct backlog *b, const struct task *e)
{
	return e->background ? &b->leisure : &b->urgent;
}

static void
count_in(struct backlog *b, struct task *e)
{
	need(!e->queued);
	e->queued = true;
	b->n++;
	b->nleisure += e->background;
}

void
backlog_put(struct backlog *b, struct task *e)
{
	count_in(b, e);
	TAILQ_INSERT_TAIL(list_of(b, e), e, link);
}

void
backlog_put_first(struct backlog *b, struct task *e)
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
has_room(const struct backlog *b, const struct task *e)
{
	size_t	before = e->background ? b->nleisure : b->n - b->nleisure;

	return before < b->most || goes_on(&e->job);
}

bool
backlog_add(struct backlog *b, struct task *e)
{
	if (!has_room(b, e)) {
		e->job.error = e->background ? ECANCELED : EAGAIN;
		return false;
	}
	backlog_put(b, e);
	return true;
}

void
backlog_remove(struct backlog *b, struct task *e)
{
	need(e->queued);
	TAILQ_REMOVE(list_of(b, e), e, link);
	e->queued = false;
	b->n--;
	b->nleisure -= e->background;
}

struct task *
backlog_next(struct backlog *b)
{
	struct task	*urgent = TAILQ_FIRST(&b->urgent);
	struct task	*leisure = TAILQ_FIRST(&b->leisure);
	struct task	*e = urgent != NULL ? urgent : leisure;

	if (urgent != NULL && leisure != NULL && ++b->turn % TURNS == 0)
		e = leisure;
	if (e != NULL)
		backlog_remove(b, e);
	return e;
}
