/*
 * task_queue: a list for each class, and which of them is served next.
 */
#include <errno.h>

#include "disk/task_queue.h"
#include "lib/need.h"

#define BACKGROUND_EVERY	4	/* tasks: one is a background task */
#define LARGE_EVERY		4	/* foreground tasks: one is large */

void
task_queue_init(struct task_queue *q, size_t max)
{
	*q = (struct task_queue){ .max = max };
	TAILQ_INIT(&q->foreground);
	TAILQ_INIT(&q->large);
	TAILQ_INIT(&q->background);
}

static struct disk_task_list *
list_of(struct task_queue *q, const struct disk_task *t)
{
	return t->task->background ? &q->background :
	    t->task->large ? &q->large : &q->foreground;
}

static void
add_to_counts(struct task_queue *q, struct disk_task *t)
{
	need(!t->queued);
	t->queued = true;
	q->n++;
	q->nbackground += t->task->background;
}

void
task_queue_push(struct task_queue *q, struct disk_task *t)
{
	add_to_counts(q, t);
	TAILQ_INSERT_TAIL(list_of(q, t), t, link);
}

void
task_queue_push_front(struct task_queue *q, struct disk_task *t)
{
	add_to_counts(q, t);
	TAILQ_INSERT_HEAD(list_of(q, t), t, link);
}

/* Reads serve responses that may have begun, and must not be refused; there is
 * at most one for each connection. */
static bool
is_read(const struct job *job)
{
	return job->kind == JOB_READ || job->kind == JOB_COPY;
}

static bool
has_room(const struct task_queue *q, const struct task *t)
{
	size_t	before = t->background ? q->nbackground : q->n - q->nbackground;

	return before < q->max || is_read(&t->job);
}

bool
task_queue_add(struct task_queue *q, struct disk_task *t)
{
	if (!has_room(q, t->task)) {
		t->task->job.error = t->task->background ? ECANCELED : EAGAIN;
		return false;
	}
	task_queue_push(q, t);
	return true;
}

void
task_queue_remove(struct task_queue *q, struct disk_task *t)
{
	need(t->queued);
	TAILQ_REMOVE(list_of(q, t), t, link);
	t->queued = false;
	q->n--;
	q->nbackground -= t->task->background;
}

void
task_queue_promote(struct task_queue *q, struct disk_task *t)
{
	task_queue_remove(q, t);
	t->task->background = false;
	task_queue_push(q, t);
}

static struct disk_task *
choose_foreground(struct task_queue *q)
{
	struct disk_task	*small = TAILQ_FIRST(&q->foreground);
	struct disk_task	*large = TAILQ_FIRST(&q->large);

	if (small == NULL || large == NULL)
		return small != NULL ? small : large;
	return ++q->nforeground % LARGE_EVERY == 0 ? large : small;
}

/* A foreground task, unless there is none or a background task has its turn. */
static struct disk_task *
choose_task(struct task_queue *q)
{
	struct disk_task	*background = TAILQ_FIRST(&q->background);

	if (q->n == q->nbackground)
		return background;
	if (background != NULL && ++q->npopped % BACKGROUND_EVERY == 0)
		return background;
	return choose_foreground(q);
}

struct disk_task *
task_queue_pop(struct task_queue *q)
{
	struct disk_task	*t = choose_task(q);

	if (t != NULL)
		task_queue_remove(q, t);
	return t;
}
