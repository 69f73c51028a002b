/*
 * task_queue: whose turn it is, and for whom there is room.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disk/task_queue.h"
#include "t/unit/unit.h"

#define MOST	8

static struct backlog	 backlog;
static struct task	 tasks[64];
static unsigned		 made;

static void
setup(void)
{
	backlog_init(&backlog, MOST);
	memset(tasks, 0, sizeof(tasks));
	made = 0;
}

static struct task *
make(enum job_kind kind, bool background)
{
	struct task	*e = &tasks[made++];

	job_init(&e->job, kind);
	e->background = background;
	return e;
}

static bool
add(enum job_kind kind, bool background)
{
	return backlog_add(&backlog, make(kind, background));
}

/* The orders of those that come next: u and l. */
static void
expect(const char *turns)
{
	struct task	*e, *last[2] = { NULL, NULL };

	for (; *turns != '\0'; turns++) {
		e = backlog_next(&backlog);
		ck_assert_ptr_nonnull(e);
		ck_assert_int_eq(e->background ? 'l' : 'u', *turns);
		ck_assert(last[e->background] < e);
		ck_assert(!e->queued);
		last[e->background] = e;
	}
}

START_TEST(turns)
{
	for (int i = 0; i < MOST; i++) {
		ck_assert(add(JOB_RESOLVE, true));
		ck_assert(add(JOB_RESOLVE, false));
	}
	ck_assert_uint_eq(backlog.n, 2 * MOST);
	expect("uuuluuuluullllll");
	ck_assert_ptr_null(backlog_next(&backlog));
	ck_assert_uint_eq(backlog.n, 0);
}
END_TEST

/* However many urgent ones come, and however few of the others. */
START_TEST(nobody_starves)
{
	struct task	*e = make(JOB_RESOLVE, true), *next;

	ck_assert(backlog_add(&backlog, e));
	for (int i = 0; i < 5 && e->queued; i++) {
		ck_assert(add(JOB_RESOLVE, false));
		next = backlog_next(&backlog);
		ck_assert(next == e || !next->background);
	}
	ck_assert(!e->queued);
}
END_TEST

/* Each order has its own; but what has begun is not cut short. */
START_TEST(room)
{
	for (int i = 0; i < MOST; i++)
		ck_assert(add(JOB_RESOLVE, true));
	ck_assert(!add(JOB_RESOLVE, true));
	ck_assert_int_eq(tasks[made - 1].job.error, ECANCELED);
	for (int i = 0; i < MOST; i++)
		ck_assert(add(JOB_RESOLVE, false));
	ck_assert(!add(JOB_LIST, false));
	ck_assert_int_eq(tasks[made - 1].job.error, EAGAIN);
	ck_assert(add(JOB_READ, false));
	ck_assert(add(JOB_COPY, false));
	ck_assert_uint_eq(backlog.n, 2 * MOST + 2);
}
END_TEST

START_TEST(taken_out)
{
	struct task	*e[] = { make(JOB_RESOLVE, false),
			    make(JOB_RESOLVE, true), make(JOB_RESOLVE, false) };

	backlog_put(&backlog, e[0]);
	backlog_put(&backlog, e[1]);
	backlog_put_first(&backlog, e[2]);
	backlog_remove(&backlog, e[0]);
	ck_assert_ptr_eq(backlog_next(&backlog), e[2]);
	ck_assert_ptr_eq(backlog_next(&backlog), e[1]);
	ck_assert_ptr_null(backlog_next(&backlog));
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, turns);
	tcase_add_test(tests, nobody_starves);
	tcase_add_test(tests, room);
	tcase_add_test(tests, taken_out);
}
