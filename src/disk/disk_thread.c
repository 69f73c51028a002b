/*
 * disk_thread: tasks in a list, under a lock that is held for no longer than
 * to change that.
 */
#include <errno.h>
#include <stdlib.h>

#include "disk/disk_thread.h"
#include "disk/task_queue.h"
#include "lib/lock.h"
#include "lib/mem.h"
#include "loop/clients.h"
#include "stats/stats.h"

/* A task on its way. */
struct trip {
	struct queued		 place;		/* first: casts rely on it */
	struct task		*task;
	struct porter		*porter;
	struct queue		*home;
};

struct porter {
	struct queue		*queue;		/* of its thread */
	struct note		 work;
	struct lock		*lock;		/* of these: */
	struct task_queue		 backlog;
	size_t			 longest;
	bool			 ended;
};

static void
finish(struct trip *t)
{
	struct task	*e = t->task;

	free(t);
	clients_finish_task(e);
}

static void
come_home(struct queued *place)
{
	finish((struct trip *)place);
}

/* False: too many wait, or nobody will come any more; the job has the error. */
static bool
add(struct porter *p, struct trip *t)
{
	bool	room;

	lock_take(p->lock);
	if (p->ended)
		t->task->job.error = ECONNABORTED;
	room = !p->ended && task_queue_add(&p->backlog, t->task);
	if (p->backlog.n > p->longest)
		p->longest = p->backlog.n;
	lock_release(p->lock);
	if (room)
		note_send(&p->work, p->queue);
	return room;
}

/* False: it was not among those that wait. */
static bool
withdraw(struct porter *p, struct trip *t)
{
	bool	waited;

	lock_take(p->lock);
	waited = t->task->queued;
	if (waited)
		task_queue_remove(&p->backlog, t->task);
	lock_release(p->lock);
	return waited;
}

/* One that is under way stays: its answer will serve the next. */
static void
deserted(struct task *e)
{
	struct trip	*t = e->ctx;

	if (!withdraw(t->porter, t))
		return;
	stats_count(STATS_JOBS_DROPPED);
	e->job.error = ECANCELED;
	finish(t);
}

void
porter_send(struct porter *p, struct task *e, struct queue *home)
{
	struct trip	*t = mem_zero(sizeof(*t));

	if (!e->deferred)
		TAILQ_INIT(&e->waiters);
	t->place.take = come_home;
	t->task = e;
	t->porter = p;
	t->home = home;
	e->ctx = t;
	/* Nobody else looks at this, and it may be done when add returns. */
	e->abandon = deserted;
	if (!add(p, t))
		finish(t);
}

/* The first of those that wait, which it is over from now on, or NULL. */
static struct trip *
next(struct porter *p, bool *more)
{
	struct task	*e;

	lock_take(p->lock);
	e = task_queue_pop(&p->backlog);
	*more = p->backlog.n > 0;
	lock_release(p->lock);
	return e != NULL ? e->ctx : NULL;
}

static void
perform(struct trip *t)
{
	struct job	*job = &t->task->job;
	int64_t		 begun = clock_us();

	job_perform(job);
	stats_time(STATS_HISTOGRAM_SERVICE_RESOLVE + (int)job->kind,
	    clock_us() - begun);
	queue_put(t->home, &t->place);
}

/* One in each turn of the loop: so it can be told to end. */
static void
work(void *context, unsigned times)
{
	struct porter	*p = context;
	bool		 more;
	struct trip	*t = next(p, &more);

	(void)times;
	if (t != NULL)
		perform(t);
	if (more)
		note_send(&p->work, p->queue);
}

size_t
porter_waiting(const struct porter *p, size_t *longest)
{
	size_t	n;

	lock_take(p->lock);
	n = p->backlog.n;
	*longest = p->longest;
	lock_release(p->lock);
	return n;
}

struct porter *
porter_new(struct evloop *loop, struct queue *queue, size_t most)
{
	struct porter	*p = mem_zero(sizeof(*p));

	/* Its turns are the disk's. */
	evloop_untimed(loop);
	p->queue = queue;
	note_init(&p->work, work, p);
	p->lock = lock_new();
	task_queue_init(&p->backlog, most);
	return p;
}

void
porter_end(struct porter *p)
{
	struct trip	*t;
	bool		 more;

	p->ended = true;
	while ((t = next(p, &more)) != NULL) {
		t->task->job.error = ECONNABORTED;
		finish(t);
	}
}

void
porter_free(struct porter **pp)
{
	lock_free(&(*pp)->lock);
	mem_drop(pp);
}
