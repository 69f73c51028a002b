/*
 * task_queue: whose turn it is, and for whom there is room.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disk/task_queue.h"
#include "t/unit/unit.h"

#define MAX	8

static struct task_queue	 queue;
static struct task	 tasks[64];
static unsigned		 made;

static void
set_up(void)
{
	task_queue_init(&queue, MAX);
	memset(tasks, 0, sizeof(tasks));
	made = 0;
}

static struct task *
make_task(enum job_kind kind, bool background)
{
	struct task	*e = &tasks[made++];

	job_init(&e->job, kind);
	e->background = background;
	return e;
}

static bool
add_task(enum job_kind kind, bool background)
{
	return task_queue_add(&queue, make_task(kind, background));
}

/* The orders of those that come next: u and l. */
static void
expect_order(const char *turns)
{
	struct task	*e, *last[2] = { NULL, NULL };

	for (; *turns != '\0'; turns++) {
		e = task_queue_pop(&queue);
		ck_assert_ptr_nonnull(e);
		ck_assert_int_eq(e->background ? 'l' : 'u', *turns);
		ck_assert(last[e->background] < e);
		ck_assert(!e->queued);
		last[e->background] = e;
	}
}

START_TEST(classes)
{
	for (int i = 0; i < MAX; i++) {
		ck_assert(add_task(JOB_RESOLVE, true));
		ck_assert(add_task(JOB_RESOLVE, false));
	}
	ck_assert_uint_eq(queue.n, 2 * MAX);
	expect_order("uuuluuuluullllll");
	ck_assert_ptr_null(task_queue_pop(&queue));
	ck_assert_uint_eq(queue.n, 0);
}
END_TEST

/* However many urgent ones come, and however few of the others. */
START_TEST(nobody_starves)
{
	struct task	*e = make_task(JOB_RESOLVE, true), *next;

	ck_assert(task_queue_add(&queue, e));
	for (int i = 0; i < 5 && e->queued; i++) {
		ck_assert(add_task(JOB_RESOLVE, false));
		next = task_queue_pop(&queue);
		ck_assert(next == e || !next->background);
	}
	ck_assert(!e->queued);
}
END_TEST

/* Each order has its own; but what has begun is not cut short. */
START_TEST(room)
{
	for (int i = 0; i < MAX; i++)
		ck_assert(add_task(JOB_RESOLVE, true));
	ck_assert(!add_task(JOB_RESOLVE, true));
	ck_assert_int_eq(tasks[made - 1].job.error, ECANCELED);
	for (int i = 0; i < MAX; i++)
		ck_assert(add_task(JOB_RESOLVE, false));
	ck_assert(!add_task(JOB_LIST, false));
	ck_assert_int_eq(tasks[made - 1].job.error, EAGAIN);
	ck_assert(add_task(JOB_READ, false));
	ck_assert(add_task(JOB_COPY, false));
	ck_assert_uint_eq(queue.n, 2 * MAX + 2);
}
END_TEST

START_TEST(taken_out)
{
	struct task *e[] = {make_task(JOB_RESOLVE, false),
	    make_task(JOB_RESOLVE, true), make_task(JOB_RESOLVE, false)};

	task_queue_push(&queue, e[0]);
	task_queue_push(&queue, e[1]);
	task_queue_push_front(&queue, e[2]);
	task_queue_remove(&queue, e[0]);
	ck_assert_ptr_eq(task_queue_pop(&queue), e[2]);
	ck_assert_ptr_eq(task_queue_pop(&queue), e[1]);
	ck_assert_ptr_null(task_queue_pop(&queue));
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_add_test(tests, classes);
	tcase_add_test(tests, nobody_starves);
	tcase_add_test(tests, room);
	tcase_add_test(tests, taken_out);
}
