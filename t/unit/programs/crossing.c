/*
 * Tests of programs/crossing: who waits for whom, among programs of one place.
 */
#include "programs/crossing.h"
#include "t/unit/unit.h"

enum { A, B, C, WITH_APPLICATION, PROGRAMS };

static struct conf_program	programs[PROGRAMS] = {
	[A] = { .name = (char []){ "a" }, .is_filter = true },
	[B] = { .name = (char []){ "b" }, .is_filter = true },
	[C] = { .name = (char []){ "c" }, .is_filter = true },
	[WITH_APPLICATION] = { .name = (char []){ "d" }, .is_filter = true,
	    .application = &programs[C] },
};
static const struct conf	conf = { .programs = programs,
				    .nprograms = PROGRAMS };
static struct admission		all[PROGRAMS];
static struct manager		manager = { .conf = &conf, .all = all };
static struct invocation	invocations[20];
static size_t			n;

static void
begin(void)
{
	n = 0;
	for (int i = 0; i < PROGRAMS; i++) {
		all[i] = (struct admission){ .manager = &manager,
		    .program = &programs[i], .most = 1 };
		TAILQ_INIT(&all[i].waiting);
		TAILQ_INIT(&all[i].running);
	}
}

static struct invocation *
add(int program, uint64_t group, bool runs)
{
	struct invocation	*i = &invocations[n++];
	struct admission	*a = &all[program];

	*i = (struct invocation){ .admission = a, .group = group,
	    .request.fd = 0 };
	if (runs)
		TAILQ_INSERT_TAIL(&a->running, i, link);
	else
		TAILQ_INSERT_TAIL(&a->waiting, i, link);
	*(runs ? &a->nrunning : &a->nwaiting) += 1;
	return i;
}

static struct invocation *
run(int program, uint64_t group)
{
	return add(program, group, true);
}

static const struct conf_program *
wait_for(int program, uint64_t group)
{
	return crossing_find(add(program, group, false));
}

START_TEST(two)
{
	begin();
	run(A, 1);
	run(B, 2);
	ck_assert_ptr_null(wait_for(B, 1));
	ck_assert_ptr_eq(wait_for(A, 2), &programs[B]);
}
END_TEST

START_TEST(three)
{
	begin();
	run(A, 1);
	run(B, 2);
	run(C, 3);
	ck_assert_ptr_null(wait_for(B, 1));
	ck_assert_ptr_null(wait_for(C, 2));
	ck_assert_ptr_eq(wait_for(A, 3), &programs[B]);
}
END_TEST

/* A filter that may be left out is not waited for for ever. */
START_TEST(optional)
{
	begin();
	programs[B].optional = true;
	run(A, 1);
	run(B, 2);
	ck_assert_ptr_null(wait_for(B, 1));
	ck_assert_ptr_null(wait_for(A, 2));
	programs[B].optional = false;
}
END_TEST

/* An answer that has a place and waits for none will give that up. */
START_TEST(one_goes_on)
{
	begin();
	all[A].most = 2;
	run(A, 1);
	run(B, 2);
	ck_assert_ptr_null(wait_for(B, 1));
	ck_assert_ptr_null(wait_for(A, 2));	/* a place is free */
	begin();
	all[A].most = 2;
	run(A, 1);
	run(B, 2);
	run(A, 3);
	ck_assert_ptr_null(wait_for(B, 1));
	ck_assert_ptr_null(wait_for(A, 2));	/* 3 goes on */
	ck_assert_ptr_eq(wait_for(B, 3), &programs[A]);
}
END_TEST

START_TEST(several_places)
{
	begin();
	all[A].most = all[B].most = 2;
	run(A, 1);
	run(A, 2);
	run(B, 3);
	run(B, 4);
	ck_assert_ptr_null(wait_for(B, 1));
	ck_assert_ptr_null(wait_for(A, 3));
	ck_assert_ptr_null(wait_for(B, 2));
	ck_assert_ptr_eq(wait_for(A, 4), &programs[B]);
}
END_TEST

START_TEST(ends)
{
	begin();
	run(A, 1)->request.fd = -1;
	run(B, 2);
	ck_assert_ptr_null(wait_for(B, 1));
	ck_assert_ptr_null(wait_for(A, 2));
}
END_TEST

/* None is known to be part of another request. */
START_TEST(without_groups)
{
	begin();
	run(A, 0);
	run(B, 0);
	ck_assert_ptr_null(wait_for(B, 0));
	ck_assert_ptr_null(wait_for(A, 0));
}
END_TEST

/* The place of such a filter is that of its application, for which it waits
 * elsewhere. */
START_TEST(application)
{
	struct invocation	*i;

	begin();
	run(C, 1);
	run(A, 2);
	ck_assert_ptr_null(wait_for(A, 1));
	i = add(WITH_APPLICATION, 2, false);
	ck_assert_ptr_null(crossing_find(i));
	i->run = i;
	ck_assert_ptr_eq(wait_for(C, 2), &programs[A]);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, two);
	tcase_add_test(tests, three);
	tcase_add_test(tests, optional);
	tcase_add_test(tests, one_goes_on);
	tcase_add_test(tests, several_places);
	tcase_add_test(tests, ends);
	tcase_add_test(tests, without_groups);
	tcase_add_test(tests, application);
}
