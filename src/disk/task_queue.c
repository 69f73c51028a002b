/*
 * task_queue: two queues, and whose turn it is.
 */
#include <errno.h>

#include "disk/task_queue.h"
#include "lib/need.h"

#define BACKGROUND_EVERY	4	/* one of these is leisure's */

void
task_queue_init(struct task_queue *b, size_t max)
{
	*b = (struct task_queue){ .max = max };
	TAILQ_INIT(&b->foreground);
	TAILQ_INIT(&b->background);
}

static struct task_list *
list_of(struct task_queue *b, const struct task *e)
{
	return e->background ? &b->background : &b->foreground;
}

static void
add_to_counts(struct task_queue *b, struct task *e)
{
	need(!e->queued);
	e->queued = true;
	b->n++;
	b->nbackground += e->background;
}

void
task_queue_push(struct task_queue *b, struct task *e)
{
	add_to_counts(b, e);
	TAILQ_INSERT_TAIL(list_of(b, e), e, link);
}

void
task_queue_push_front(struct task_queue *b, struct task *e)
{
	add_to_counts(b, e);
	TAILQ_INSERT_HEAD(list_of(b, e), e, link);
}

/* A piece of a response that may have begun: it is not to be cut short, and
 * there are no more of them than connections. */
static bool
is_read(const struct job *job)
{
	return job->kind == JOB_READ || job->kind == JOB_COPY;
}

static bool
has_room(const struct task_queue *b, const struct task *e)
{
	size_t	before = e->background ? b->nbackground : b->n - b->nbackground;

	return before < b->max || is_read(&e->job);
}

bool
task_queue_add(struct task_queue *b, struct task *e)
{
	if (!has_room(b, e)) {
		e->job.error = e->background ? ECANCELED : EAGAIN;
		return false;
	}
	task_queue_push(b, e);
	return true;
}

void
task_queue_remove(struct task_queue *b, struct task *e)
{
	need(e->queued);
	TAILQ_REMOVE(list_of(b, e), e, link);
	e->queued = false;
	b->n--;
	b->nbackground -= e->background;
}

struct task *
task_queue_pop(struct task_queue *b)
{
	struct task	*foreground = TAILQ_FIRST(&b->foreground);
	struct task	*background = TAILQ_FIRST(&b->background);
	struct task	*e = foreground != NULL ? foreground : background;

	if (foreground != NULL && background != NULL &&
	    ++b->npopped % BACKGROUND_EVERY == 0)
		e = background;
	if (e != NULL)
		task_queue_remove(b, e);
	return e;
}
