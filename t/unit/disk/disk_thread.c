/*
 * Tests of disk/disk_thread: tasks that another thread does or refuses.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "disk/disk_thread.h"
#include "lib/mem.h"
#include "loop/clients.h"
#include "stats/stats.h"
#include "t/unit/unit.h"

#define MAX	2

struct loop_thread {			/* the loop of a thread */
	struct clock	 clock;
	struct evloop	*loop;
	struct mailbox	*queue;
};

static struct loop_thread	 here, there;
static struct disk_thread	*disk_thread;
static pthread_t	 thread;
static struct flag_msg	 stop;
static struct task	*ended[8];
static pthread_t	 ended_by;
static int		 nended, expected;

/* Replaces the function of clients.c. */
void
clients_finish_task(struct task *t)
{
	t->abandon = NULL;
	ended_by = pthread_self();
	ended[nended++] = t;
	if (nended == expected && pthread_equal(ended_by, thread))
		evloop_stop(there.loop);
	else if (nended == expected)
		evloop_stop(here.loop);
}

static void
open_loop(struct loop_thread *p)
{
	p->loop = evloop_new(&p->clock);
	p->queue = mailbox_new(p->loop);
}

static void
close_loop(struct loop_thread *p)
{
	mailbox_free(&p->queue);
	evloop_free(&p->loop);
}

static void
stop_there(void *context, unsigned times)
{
	(void)context;
	(void)times;
	evloop_stop(there.loop);
}

static void
set_up(void)
{
	nended = 0;
	expected = -1;
	open_loop(&here);
	open_loop(&there);
	mailbox_flag_init(&stop, stop_there, NULL);
	disk_thread = disk_thread_new(there.loop, there.queue, MAX);
}

static void
tear_down(void)
{
	disk_thread_end(disk_thread);
	disk_thread_free(&disk_thread);
	close_loop(&here);
	close_loop(&there);
}

static void *
run_thread(void *unused)
{
	static struct stats_slot	part;

	(void)unused;
	stats_use_thread(&part);
	evloop_run(there.loop);
	return NULL;
}

/* The job reads a few bytes of this program. */
static struct task *
make_task(enum job_kind kind)
{
	struct task	*t = mem_zero(sizeof(*t));

	job_init(&t->job, kind);
	t->job.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ne(t->job.fd, -1);
	t->job.range.length = 100;
	return t;
}

static struct task *
submit_task(enum job_kind kind, struct mailbox *reply_to)
{
	struct task	*t = make_task(kind);

	disk_thread_submit(disk_thread, t, reply_to);
	return t;
}

/* As clients.c does when the last waiter leaves. */
static void
abandon(struct task *t)
{
	if (t->abandon != NULL)
		t->abandon(t);
}

static size_t
waiting(void)
{
	size_t	longest;

	return disk_thread_waiting(disk_thread, &longest);
}

static size_t
longest(void)
{
	size_t	n;

	disk_thread_waiting(disk_thread, &n);
	return n;
}

static void
drop_task(struct task *t)
{
	if (t->job.fd != -1)
		close(t->job.fd);
	free(t);
}

START_TEST(come_back)
{
	struct task	*first = submit_task(JOB_READ, here.queue);
	struct task	*second = submit_task(JOB_READ, here.queue);

	expected = 2;
	ck_assert_int_eq(pthread_create(&thread, NULL, run_thread, NULL), 0);
	evloop_run(here.loop);
	ck_assert(pthread_equal(ended_by, pthread_self()));
	ck_assert_ptr_eq(ended[0], first);
	ck_assert_ptr_eq(ended[1], second);
	ck_assert_int_eq(first->job.error, 0);
	ck_assert_uint_eq(first->job.range.done, 100);
	abandon(first);		/* taken or done: nothing to drop */
	ck_assert_int_eq(nended, 2);
	mailbox_flag_send(&stop, there.queue);
	pthread_join(thread, NULL);
	drop_task(first);
	drop_task(second);
}
END_TEST

/* Reads of a response that has begun are not refused. */
START_TEST(too_many)
{
	struct task	*t[MAX + 2];

	for (int i = 0; i < MAX; i++)
		t[i] = submit_task(JOB_RESOLVE, here.queue);
	ck_assert_uint_eq(waiting(), MAX);
	t[MAX] = submit_task(JOB_RESOLVE, here.queue);
	ck_assert_int_eq(nended, 1);
	ck_assert_ptr_eq(ended[0], t[MAX]);
	ck_assert_int_eq(t[MAX]->job.error, EAGAIN);
	t[MAX + 1] = submit_task(JOB_READ, here.queue);
	ck_assert_int_eq(nended, 1);
	ck_assert_uint_eq(waiting(), MAX + 1);
	disk_thread_end(disk_thread);
	ck_assert_int_eq(nended, MAX + 2);
	ck_assert_int_eq(t[0]->job.error, ECONNABORTED);
	ck_assert_uint_eq(waiting(), 0);
	ck_assert_uint_eq(longest(), MAX + 1);
	for (int i = 0; i < MAX + 2; i++)
		drop_task(t[i]);
	t[0] = submit_task(JOB_READ, here.queue);
	ck_assert_int_eq(nended, MAX + 3);
	ck_assert_int_eq(t[0]->job.error, ECONNABORTED);
	drop_task(t[0]);
}
END_TEST

/* Background tasks have a limit of their own. */
START_TEST(background)
{
	struct task	*t[MAX + 2];

	for (int i = 0; i <= MAX; i++) {
		t[i] = make_task(JOB_RESOLVE);
		t[i]->background = true;
		disk_thread_submit(disk_thread, t[i], here.queue);
	}
	ck_assert_int_eq(nended, 1);
	ck_assert_ptr_eq(ended[0], t[MAX]);
	ck_assert_int_eq(t[MAX]->job.error, ECANCELED);
	t[MAX + 1] = submit_task(JOB_RESOLVE, here.queue);
	ck_assert_uint_eq(waiting(), MAX + 1);
	disk_thread_end(disk_thread);
	ck_assert_ptr_eq(ended[1], t[MAX + 1]);
	ck_assert_int_eq(nended, MAX + 2);
	for (int i = 0; i < MAX + 2; i++)
		drop_task(t[i]);
}
END_TEST

/* An abandoned task makes room in the queue. */
START_TEST(abandoned)
{
	struct task	*t[MAX + 1];

	for (int i = 0; i < MAX; i++)
		t[i] = submit_task(JOB_RESOLVE, here.queue);
	abandon(t[0]);
	ck_assert_int_eq(nended, 1);
	ck_assert_ptr_eq(ended[0], t[0]);
	ck_assert_int_eq(t[0]->job.error, ECANCELED);
	ck_assert_uint_eq(waiting(), MAX - 1);
	t[MAX] = submit_task(JOB_RESOLVE, here.queue);
	ck_assert_uint_eq(waiting(), MAX);
	disk_thread_end(disk_thread);
	for (int i = 0; i <= MAX; i++)
		drop_task(t[i]);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, come_back);
	tcase_add_test(tests, too_many);
	tcase_add_test(tests, background);
	tcase_add_test(tests, abandoned);
}
