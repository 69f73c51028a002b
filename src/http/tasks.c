/*
 * tasks: a task on its way to the driver of disk work.
 */
#include "http/tasks.h"

void
tasks_init(struct http_loop *http, struct task *t, enum job_kind kind,
    void (*complete)(struct task *), void (*free)(struct task *))
{
	job_init(&t->job, kind);
	t->job.id = ++http->caches->next_job_id;
	t->complete = complete;
	t->free = free;
	TAILQ_INIT(&t->waiters);
}

enum submitted
tasks_submit(struct http_loop *http, struct task *t)
{
	bool		held = http->verify.hold;
	enum submitted	submitted;

	http->verify.hold = true;
	submitted = http->disk.submit(http->disk.context, t);
	http->verify.hold = held;
	return submitted;
}
