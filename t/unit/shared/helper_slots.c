/*
 * Tests of shared/helper_slots: what one process writes another reads.
 */
#include <sys/wait.h>

#include <unistd.h>

#include "shared/helper_slots.h"
#include "t/unit/unit.h"

START_TEST(outlives_who_writes)
{
	struct ledger	*l = ledger_new(3);
	pid_t		 pid = fork();
	int		 line, status;

	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		ledger_write(l, ledger_open(l, 11), 100);
		line = ledger_open(l, 12);
		ledger_write(l, line, 200);
		ledger_write(l, line, 0);
		ledger_write(l, ledger_open(l, 13), 300);
		line = ledger_open(l, 14);	/* one too many */
		ledger_write(l, line, 400);
		ledger_close(l, line);
		_exit(line == -1 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(ledger_lane(l, 11), 100);
	ck_assert_uint_eq(ledger_lane(l, 12), 0);
	ck_assert_uint_eq(ledger_lane(l, 13), 300);
	ck_assert_uint_eq(ledger_lane(l, 14), 0);
	ck_assert_uint_eq(ledger_lane(l, 0), 0);
	ledger_clear(l);
	ck_assert_uint_eq(ledger_lane(l, 11), 0);
	line = ledger_open(l, 15);
	ledger_write(l, line, 500);
	ledger_close(l, line);
	ck_assert_uint_eq(ledger_lane(l, 15), 0);
	ck_assert_uint_eq(ledger_lane(l, 0), 0);
	ledger_free(&l);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, outlives_who_writes);
}
