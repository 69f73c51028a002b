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

#define MOST	2

struct place {			/* a thread's */
	struct clock	 clock;
	struct evloop	*loop;
	struct queue	*queue;
};

static struct place	 here, there;
static struct porter	*porter;
static pthread_t	 thread;
static struct note	 stop;
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
open_place(struct place *p)
{
	p->loop = evloop_new(&p->clock);
	p->queue = queue_new(p->loop);
}

static void
close_place(struct place *p)
{
	queue_free(&p->queue);
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
make(void)
{
	nended = 0;
	expected = -1;
	open_place(&here);
	open_place(&there);
	note_init(&stop, stop_there, NULL);
	porter = porter_new(there.loop, there.queue, MOST);
}

static void
unmake(void)
{
	porter_end(porter);
	porter_free(&porter);
	close_place(&here);
	close_place(&there);
}

static void *
be_porter(void *unused)
{
	static struct stats_part	part;

	(void)unused;
	stats_thread_in(&part);
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
order(enum job_kind kind, struct queue *home)
{
	struct task	*e = task(kind);

	porter_send(porter, e, home);
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

	return porter_waiting(porter, &longest);
}

static size_t
longest(void)
{
	size_t	n;

	porter_waiting(porter, &n);
	return n;
}

static void
drop(struct task *e)
{
	if (e->job.fd != -1)
		close(e->job.fd);
	free(e);
}

START_TEST(come_home)
{
	struct task	*first = order(JOB_READ, here.queue);
	struct task	*second = order(JOB_READ, here.queue);

	expected = 2;
	ck_assert_int_eq(pthread_create(&thread, NULL, be_porter, NULL), 0);
	evloop_run(here.loop);
	ck_assert(pthread_equal(ended_by, pthread_self()));
	ck_assert_ptr_eq(ended[0], first);
	ck_assert_ptr_eq(ended[1], second);
	ck_assert_int_eq(first->job.error, 0);
	ck_assert_uint_eq(first->job.done, 100);
	abandon(first);		/* on its way, or here: nothing to drop */
	ck_assert_int_eq(nended, 2);
	note_send(&stop, there.queue);
	pthread_join(thread, NULL);
	drop(first);
	drop(second);
}
END_TEST

/* But who has begun a response is not turned away. */
START_TEST(too_many)
{
	struct task	*e[MOST + 2];

	for (int i = 0; i < MOST; i++)
		e[i] = order(JOB_RESOLVE, here.queue);
	ck_assert_uint_eq(waiting(), MOST);
	e[MOST] = order(JOB_RESOLVE, here.queue);
	ck_assert_int_eq(nended, 1);
	ck_assert_ptr_eq(ended[0], e[MOST]);
	ck_assert_int_eq(e[MOST]->job.error, EAGAIN);
	e[MOST + 1] = order(JOB_READ, here.queue);
	ck_assert_int_eq(nended, 1);
	ck_assert_uint_eq(waiting(), MOST + 1);
	porter_end(porter);
	ck_assert_int_eq(nended, MOST + 2);
	ck_assert_int_eq(e[0]->job.error, ECONNABORTED);
	ck_assert_uint_eq(waiting(), 0);
	ck_assert_uint_eq(longest(), MOST + 1);
	for (int i = 0; i < MOST + 2; i++)
		drop(e[i]);
	e[0] = order(JOB_READ, here.queue);
	ck_assert_int_eq(nended, MOST + 3);
	ck_assert_int_eq(e[0]->job.error, ECONNABORTED);
	drop(e[0]);
}
END_TEST

/* Nobody waits for them, nor is to wait behind too many of them. */
START_TEST(at_leisure)
{
	struct task	*e[MOST + 2];

	for (int i = 0; i <= MOST; i++) {
		e[i] = task(JOB_RESOLVE);
		e[i]->background = true;
		porter_send(porter, e[i], here.queue);
	}
	ck_assert_int_eq(nended, 1);
	ck_assert_ptr_eq(ended[0], e[MOST]);
	ck_assert_int_eq(e[MOST]->job.error, ECANCELED);
	e[MOST + 1] = order(JOB_RESOLVE, here.queue);
	ck_assert_uint_eq(waiting(), MOST + 1);
	porter_end(porter);
	ck_assert_ptr_eq(ended[1], e[MOST + 1]);
	ck_assert_int_eq(nended, MOST + 2);
	for (int i = 0; i < MOST + 2; i++)
		drop(e[i]);
}
END_TEST

/* Its place is another's then. */
START_TEST(is_deserted)
{
	struct task	*e[MOST + 1];

	for (int i = 0; i < MOST; i++)
		e[i] = order(JOB_RESOLVE, here.queue);
	abandon(e[0]);
	ck_assert_int_eq(nended, 1);
	ck_assert_ptr_eq(ended[0], e[0]);
	ck_assert_int_eq(e[0]->job.error, ECANCELED);
	ck_assert_uint_eq(waiting(), MOST - 1);
	e[MOST] = order(JOB_RESOLVE, here.queue);
	ck_assert_uint_eq(waiting(), MOST);
	porter_end(porter);
	for (int i = 0; i <= MOST; i++)
		drop(e[i]);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, make, unmake);
	tcase_add_test(tests, come_home);
	tcase_add_test(tests, too_many);
	tcase_add_test(tests, at_leisure);
	tcase_add_test(tests, is_deserted);
}
