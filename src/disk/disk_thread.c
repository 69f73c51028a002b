/*
 * disk_thread: a task queue under a lock, which is held only to change the
 * queue.
 */
#include <errno.h>
#include <stdlib.h>

#include "disk/disk_thread.h"
#include "disk/task_queue.h"
#include "lib/lock.h"
#include "lib/mem.h"
#include "loop/clients.h"
#include "stats/stats.h"

/* A task on its way to the thread and back. */
struct item {
	struct disk_task	 task;		/* first: casts rely on it */
	struct mail		 reply;
	struct disk_thread	*thread;
	struct mailbox		*reply_to;
};

struct disk_thread {
	struct mailbox		*mailbox;	/* of the thread's loop */
	struct flag_msg		 work;		/* tasks wait */
	struct lock		*lock;		/* of the members below */
	struct task_queue	 tasks;
	size_t			 waiting_max;	/* tasks that waited at once */
	bool			 ended;
};

static void
finish_item(struct item *item)
{
	struct task	*t = item->task.task;

	free(item);
	clients_finish_task(t);
}

static void
on_reply(struct mail *reply)
{
	finish_item((struct item *)((char *)reply -
	    offsetof(struct item, reply)));
}

/* False: the queue is full or the thread has ended; job.error is set. */
static bool
add_item(struct disk_thread *thread, struct item *item)
{
	bool	room;

	lock_acquire(thread->lock);
	if (thread->ended)
		item->task.task->job.error = ECONNABORTED;
	room = !thread->ended && task_queue_add(&thread->tasks, &item->task);
	if (thread->tasks.n > thread->waiting_max)
		thread->waiting_max = thread->tasks.n;
	lock_release(thread->lock);
	if (room)
		mailbox_flag_send(&thread->work, thread->mailbox);
	return room;
}

/* False: the thread has taken the item. */
static bool
remove_item(struct disk_thread *thread, struct item *item)
{
	bool	waited;

	lock_acquire(thread->lock);
	waited = item->task.queued;
	if (waited)
		task_queue_remove(&thread->tasks, &item->task);
	lock_release(thread->lock);
	return waited;
}

/* A job that has begun goes on: its result serves later requests. */
static void
abandon_task(struct task *t)
{
	struct item	*item = t->record;

	if (!remove_item(item->thread, item))
		return;
	stats_count(STATS_JOBS_DROPPED);
	t->job.error = ECANCELED;
	finish_item(item);
}

enum submitted
disk_thread_submit(struct disk_thread *thread, struct task *t,
    struct mailbox *reply_to)
{
	struct item	*item = mem_zero(sizeof(*item));

	item->reply.deliver = on_reply;
	item->task.task = t;
	item->thread = thread;
	item->reply_to = reply_to;
	t->record = item;
	/* Before add_item(), after which the task may be done at any time. */
	t->abandon = abandon_task;
	if (add_item(thread, item))
		return SUBMITTED_PENDING;
	finish_item(item);
	return SUBMITTED_COMPLETED;
}

/* Takes the next item; NULL: none. */
static struct item *
pop_item(struct disk_thread *thread, bool *more)
{
	struct disk_task	*t;

	lock_acquire(thread->lock);
	t = task_queue_pop(&thread->tasks);
	*more = thread->tasks.n > 0;
	lock_release(thread->lock);
	return (struct item *)t;
}

static void
perform_item(struct item *item)
{
	struct job	*job = &item->task.task->job;
	int64_t		 started_at = clock_us();

	job_perform(job);
	stats_time(STATS_HISTOGRAM_JOB_DURATION_RESOLVE + (int)job->kind,
	    clock_us() - started_at);
	mailbox_post(item->reply_to, &item->reply);
}

/* The loop does one job in an iteration, so that a command to end gets in. */
static void
perform_next(void *context, unsigned times)
{
	struct disk_thread	*thread = context;
	bool			 more;
	struct item		*item = pop_item(thread, &more);

	(void)times;
	if (item != NULL)
		perform_item(item);
	if (more)
		mailbox_flag_send(&thread->work, thread->mailbox);
}

size_t
disk_thread_waiting(const struct disk_thread *thread, size_t *waiting_max)
{
	size_t	n;

	lock_acquire(thread->lock);
	n = thread->tasks.n;
	*waiting_max = thread->waiting_max;
	lock_release(thread->lock);
	return n;
}

struct disk_thread *
disk_thread_new(struct evloop *loop, struct mailbox *mailbox, size_t max)
{
	struct disk_thread	*thread = mem_zero(sizeof(*thread));

	/* An iteration takes as long as the disk: no histogram of these. */
	evloop_stop_timing(loop);
	thread->mailbox = mailbox;
	mailbox_flag_init(&thread->work, perform_next, thread);
	thread->lock = lock_new();
	task_queue_init(&thread->tasks, max);
	return thread;
}

void
disk_thread_end(struct disk_thread *thread)
{
	struct item	*item;
	bool		 more;

	thread->ended = true;
	while ((item = pop_item(thread, &more)) != NULL) {
		item->task.task->job.error = ECONNABORTED;
		finish_item(item);
	}
}

void
disk_thread_free(struct disk_thread **tp)
{
	lock_free(&(*tp)->lock);
	mem_drop(tp);
}
