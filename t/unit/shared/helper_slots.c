/*
 * Tests of shared/helper_slots: what one process writes another reads.
 */
#include <sys/wait.h>

#include <unistd.h>

#include "shared/helper_slots.h"
#include "t/unit/unit.h"

START_TEST(outlives_who_writes)
{
	struct helper_slots	*l = helper_slots_new(3);
	pid_t		 pid = fork();
	int		 line, status;

	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		helper_slots_set(l, helper_slots_take(l, 11), 100);
		line = helper_slots_take(l, 12);
		helper_slots_set(l, line, 200);
		helper_slots_set(l, line, 0);
		helper_slots_set(l, helper_slots_take(l, 13), 300);
		line = helper_slots_take(l, 14);	/* one too many */
		helper_slots_set(l, line, 400);
		helper_slots_release(l, line);
		_exit(line == -1 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(helper_slots_find(l, 11), 100);
	ck_assert_uint_eq(helper_slots_find(l, 12), 0);
	ck_assert_uint_eq(helper_slots_find(l, 13), 300);
	ck_assert_uint_eq(helper_slots_find(l, 14), 0);
	ck_assert_uint_eq(helper_slots_find(l, 0), 0);
	helper_slots_clear(l);
	ck_assert_uint_eq(helper_slots_find(l, 11), 0);
	line = helper_slots_take(l, 15);
	helper_slots_set(l, line, 500);
	helper_slots_release(l, line);
	ck_assert_uint_eq(helper_slots_find(l, 15), 0);
	ck_assert_uint_eq(helper_slots_find(l, 0), 0);
	helper_slots_free(&l);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, outlives_who_writes);
}
