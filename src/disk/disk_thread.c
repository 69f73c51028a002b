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
struct item {
	struct mail		 reply;		/* first: casts rely on it */
	struct task		*task;
	struct disk_thread		*thread;
	struct mailbox		*reply_to;
};

struct disk_thread {
	struct mailbox		*mailbox;		/* of its thread */
	struct flag_msg		 work;
	struct lock		*lock;		/* of these: */
	struct task_queue		 tasks;
	size_t			 waiting_max;
	bool			 ended;
};

static void
finish_item(struct item *t)
{
	struct task	*e = t->task;

	free(t);
	clients_finish_task(e);
}

static void
on_reply(struct mail *reply)
{
	finish_item((struct item *)reply);
}

/* False: too many wait, or nobody will come any more; the job has the error. */
static bool
add_item(struct disk_thread *p, struct item *t)
{
	bool	room;

	lock_acquire(p->lock);
	if (p->ended)
		t->task->job.error = ECONNABORTED;
	room = !p->ended && task_queue_add(&p->tasks, t->task);
	if (p->tasks.n > p->waiting_max)
		p->waiting_max = p->tasks.n;
	lock_release(p->lock);
	if (room)
		mailbox_flag_send(&p->work, p->mailbox);
	return room;
}

/* False: it was not among those that wait. */
static bool
remove_item(struct disk_thread *p, struct item *t)
{
	bool	waited;

	lock_acquire(p->lock);
	waited = t->task->queued;
	if (waited)
		task_queue_remove(&p->tasks, t->task);
	lock_release(p->lock);
	return waited;
}

/* One that is under way stays: its answer will serve the next. */
static void
abandon_task(struct task *e)
{
	struct item	*t = e->ctx;

	if (!remove_item(t->thread, t))
		return;
	stats_count(STATS_JOBS_DROPPED);
	e->job.error = ECANCELED;
	finish_item(t);
}

void
disk_thread_submit(
    struct disk_thread *p, struct task *e, struct mailbox *reply_to)
{
	struct item	*t = mem_zero(sizeof(*t));

	if (!e->deferred)
		TAILQ_INIT(&e->waiters);
	t->reply.deliver = on_reply;
	t->task = e;
	t->thread = p;
	t->reply_to = reply_to;
	e->ctx = t;
	/* Nobody else looks at this, and it may be done when add returns. */
	e->abandon = abandon_task;
	if (!add_item(p, t))
		finish_item(t);
}

/* The first of those that wait, which it is over from now on, or NULL. */
static struct item *
pop_item(struct disk_thread *p, bool *more)
{
	struct task	*e;

	lock_acquire(p->lock);
	e = task_queue_pop(&p->tasks);
	*more = p->tasks.n > 0;
	lock_release(p->lock);
	return e != NULL ? e->ctx : NULL;
}

static void
perform_item(struct item *t)
{
	struct job	*job = &t->task->job;
	int64_t		 begun = clock_us();

	job_perform(job);
	stats_time(STATS_HISTOGRAM_JOB_DURATION_RESOLVE + (int)job->kind,
	    clock_us() - begun);
	mailbox_post(t->reply_to, &t->reply);
}

/* One in each turn of the loop: so it can be told to end. */
static void
perform_next(void *context, unsigned times)
{
	struct disk_thread	*p = context;
	bool		 more;
	struct item	*t = pop_item(p, &more);

	(void)times;
	if (t != NULL)
		perform_item(t);
	if (more)
		mailbox_flag_send(&p->work, p->mailbox);
}

size_t
disk_thread_waiting(const struct disk_thread *p, size_t *waiting_max)
{
	size_t	n;

	lock_acquire(p->lock);
	n = p->tasks.n;
	*waiting_max = p->waiting_max;
	lock_release(p->lock);
	return n;
}

struct disk_thread *
disk_thread_new(struct evloop *loop, struct mailbox *mailbox, size_t max)
{
	struct disk_thread	*p = mem_zero(sizeof(*p));

	/* Its turns are the disk's. */
	evloop_stop_timing(loop);
	p->mailbox = mailbox;
	mailbox_flag_init(&p->work, perform_next, p);
	p->lock = lock_new();
	task_queue_init(&p->tasks, max);
	return p;
}

void
disk_thread_end(struct disk_thread *p)
{
	struct item	*t;
	bool		 more;

	p->ended = true;
	while ((t = pop_item(p, &more)) != NULL) {
		t->task->job.error = ECONNABORTED;
		finish_item(t);
	}
}

void
disk_thread_free(struct disk_thread **pp)
{
	lock_free(&(*pp)->lock);
	mem_drop(pp);
}
