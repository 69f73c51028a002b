/*
 * Tests of disk/disk_thread: tasks that another thread does, or does not.
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

struct loop_thread {			/* a thread's */
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

/* In place of that of clients.c. */
void
clients_finish_task(struct task *e)
{
	e->abandon = NULL;
	ended_by = pthread_self();
	ended[nended++] = e;
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

/* What it has to do is to bring this program into memory, a little of it. */
static struct task *
task(enum job_kind kind)
{
	struct task	*e = mem_zero(sizeof(*e));

	job_init(&e->job, kind);
	e->job.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ne(e->job.fd, -1);
	e->job.length = 100;
	return e;
}

static struct task *
submit_task(enum job_kind kind, struct mailbox *home)
{
	struct task	*e = task(kind);

	disk_thread_submit(disk_thread, e, home);
	return e;
}

/* A client leaves, as the last who has waited for it. */
static void
abandon(struct task *e)
{
	if (e->abandon != NULL)
		e->abandon(e);
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
drop_task(struct task *e)
{
	if (e->job.fd != -1)
		close(e->job.fd);
	free(e);
}

START_TEST(come_home)
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
	ck_assert_uint_eq(first->job.done, 100);
	abandon(first);		/* on its way, or here: nothing to drop */
	ck_assert_int_eq(nended, 2);
	mailbox_flag_send(&stop, there.queue);
	pthread_join(thread, NULL);
	drop_task(first);
	drop_task(second);
}
END_TEST

/* But who has begun a response is not turned away. */
START_TEST(too_many)
{
	struct task	*e[MAX + 2];

	for (int i = 0; i < MAX; i++)
		e[i] = submit_task(JOB_RESOLVE, here.queue);
	ck_assert_uint_eq(waiting(), MAX);
	e[MAX] = submit_task(JOB_RESOLVE, here.queue);
	ck_assert_int_eq(nended, 1);
	ck_assert_ptr_eq(ended[0], e[MAX]);
	ck_assert_int_eq(e[MAX]->job.error, EAGAIN);
	e[MAX + 1] = submit_task(JOB_READ, here.queue);
	ck_assert_int_eq(nended, 1);
	ck_assert_uint_eq(waiting(), MAX + 1);
	disk_thread_end(disk_thread);
	ck_assert_int_eq(nended, MAX + 2);
	ck_assert_int_eq(e[0]->job.error, ECONNABORTED);
	ck_assert_uint_eq(waiting(), 0);
	ck_assert_uint_eq(longest(), MAX + 1);
	for (int i = 0; i < MAX + 2; i++)
		drop_task(e[i]);
	e[0] = submit_task(JOB_READ, here.queue);
	ck_assert_int_eq(nended, MAX + 3);
	ck_assert_int_eq(e[0]->job.error, ECONNABORTED);
	drop_task(e[0]);
}
END_TEST

/* Nobody waits for them, nor is to wait behind too many of them. */
START_TEST(at_leisure)
{
	struct task	*e[MAX + 2];

	for (int i = 0; i <= MAX; i++) {
		e[i] = task(JOB_RESOLVE);
		e[i]->background = true;
		disk_thread_submit(disk_thread, e[i], here.queue);
	}
	ck_assert_int_eq(nended, 1);
	ck_assert_ptr_eq(ended[0], e[MAX]);
	ck_assert_int_eq(e[MAX]->job.error, ECANCELED);
	e[MAX + 1] = submit_task(JOB_RESOLVE, here.queue);
	ck_assert_uint_eq(waiting(), MAX + 1);
	disk_thread_end(disk_thread);
	ck_assert_ptr_eq(ended[1], e[MAX + 1]);
	ck_assert_int_eq(nended, MAX + 2);
	for (int i = 0; i < MAX + 2; i++)
		drop_task(e[i]);
}
END_TEST

/* Its place is another's then. */
START_TEST(is_deserted)
{
	struct task	*e[MAX + 1];

	for (int i = 0; i < MAX; i++)
		e[i] = submit_task(JOB_RESOLVE, here.queue);
	abandon(e[0]);
	ck_assert_int_eq(nended, 1);
	ck_assert_ptr_eq(ended[0], e[0]);
	ck_assert_int_eq(e[0]->job.error, ECANCELED);
	ck_assert_uint_eq(waiting(), MAX - 1);
	e[MAX] = submit_task(JOB_RESOLVE, here.queue);
	ck_assert_uint_eq(waiting(), MAX);
	disk_thread_end(disk_thread);
	for (int i = 0; i <= MAX; i++)
		drop_task(e[i]);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, come_home);
	tcase_add_test(tests, too_many);
	tcase_add_test(tests, at_leisure);
	tcase_add_test(tests, is_deserted);
}
