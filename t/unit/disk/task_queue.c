/*
 * Tests of disk/task_queue: the order of tasks, and the limits.
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
static struct disk_task	 records[64];
static unsigned		 made;

static void
set_up(void)
{
	task_queue_init(&queue, MAX);
	memset(tasks, 0, sizeof(tasks));
	memset(records, 0, sizeof(records));
	made = 0;
}

static struct disk_task *
make_task(enum job_kind kind, bool background)
{
	struct task		*t = &tasks[made];
	struct disk_task	*record = &records[made++];

	job_init(&t->job, kind);
	t->background = background;
	record->task = t;
	return record;
}

static bool
add_task(enum job_kind kind, bool background)
{
	return task_queue_add(&queue, make_task(kind, background));
}

/* Adds tasks: f is a foreground task, l a large one, b a background one. */
static void
add_tasks(const char *kinds)
{
	struct disk_task	*t;

	for (; *kinds != '\0'; kinds++) {
		t = make_task(JOB_READ, *kinds == 'b');
		t->task->large = *kinds == 'l';
		ck_assert(task_queue_add(&queue, t));
	}
}

static char
kind_of(const struct task *t)
{
	return t->background ? 'b' : t->large ? 'l' : 'f';
}

/* Pops tasks; those of a kind are in the order in which they were added. */
static void
expect_order(const char *order)
{
	struct disk_task	*t, *last[128] = { NULL };

	for (; *order != '\0'; order++) {
		t = task_queue_pop(&queue);
		ck_assert_ptr_nonnull(t);
		ck_assert_int_eq(kind_of(t->task), *order);
		ck_assert(last[(int)*order] < t);
		ck_assert(!t->queued);
		last[(int)*order] = t;
	}
}

START_TEST(classes)
{
	for (int i = 0; i < MAX; i++) {
		ck_assert(add_task(JOB_RESOLVE, true));
		ck_assert(add_task(JOB_RESOLVE, false));
	}
	ck_assert_uint_eq(queue.n, 2 * MAX);
	expect_order("fffbfffbffbbbbbb");
	ck_assert_ptr_null(task_queue_pop(&queue));
	ck_assert_uint_eq(queue.n, 0);
}
END_TEST

/* Large tasks have every fourth turn of those in the foreground, also beside
 * background tasks, and all of them when there is nothing else. */
START_TEST(large)
{
	static const struct {
		const char	*added, *order;
	} cases[] = {
		{ "llff", "ffll" },
		{ "llffffff", "ffflfffl" },
		{ "lllbb", "lllbb" },
		{ "llbbffffff", "fffblffbfl" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_up();
		add_tasks(cases[i].added);
		expect_order(cases[i].order);
		ck_assert_ptr_null(task_queue_pop(&queue));
		ck_assert_uint_eq(queue.n, 0);
	}
}
END_TEST

/* A large task that becomes a foreground one is large still. */
START_TEST(promoted)
{
	struct disk_task	*t = make_task(JOB_READ, true);

	t->task->large = true;
	ck_assert(task_queue_add(&queue, t));
	task_queue_promote(&queue, t);
	add_tasks("f");
	expect_order("fl");
}
END_TEST

/* A background task is served, however many foreground tasks come. */
START_TEST(no_starvation)
{
	struct disk_task	*t = make_task(JOB_RESOLVE, true), *next;

	ck_assert(task_queue_add(&queue, t));
	for (int i = 0; i < 5 && t->queued; i++) {
		ck_assert(add_task(JOB_RESOLVE, false));
		next = task_queue_pop(&queue);
		ck_assert(next == t || !next->task->background);
	}
	ck_assert(!t->queued);
}
END_TEST

/* Each class has its own limit; reads have none. */
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
	struct disk_task	*t[] = { make_task(JOB_RESOLVE, false),
	    make_task(JOB_RESOLVE, true), make_task(JOB_RESOLVE, false) };

	task_queue_push(&queue, t[0]);
	task_queue_push(&queue, t[1]);
	task_queue_push_front(&queue, t[2]);
	task_queue_remove(&queue, t[0]);
	ck_assert_ptr_eq(task_queue_pop(&queue), t[2]);
	ck_assert_ptr_eq(task_queue_pop(&queue), t[1]);
	ck_assert_ptr_null(task_queue_pop(&queue));
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_add_test(tests, classes);
	tcase_add_test(tests, large);
	tcase_add_test(tests, promoted);
	tcase_add_test(tests, no_starvation);
	tcase_add_test(tests, room);
	tcase_add_test(tests, taken_out);
}
