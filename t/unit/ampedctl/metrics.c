/*
 * Unit test of ampedctl/metrics.
 */
#include <string.h>

#include "ampedctl/metrics.h"
#include "t/unit/unit.h"

START_TEST(read_and_found)
{
	struct metrics	n;
	struct buf	text = { 0 };

	buf_adds(&text, "version 1.2.3\nrequests 12\nloop-lag-sum 0.25\n"
	    "fs-254:0-limit 16\nno number\nrequests-too\n\nx 1e3\ny \n"
	    "large 18446744073709551615\nlast 7");
	metrics_parse(&n, &text);
	buf_free(&text);		/* they are the numbers' own by now */
	ck_assert_str_eq(n.version, "1.2.3");
	ck_assert_double_eq(metrics_get(&n, "requests"), 12);
	ck_assert_double_eq(metrics_get(&n, "loop-%s-sum", "lag"), 0.25);
	ck_assert_double_eq(metrics_get(&n, "fs-%.*s-limit", 5, "254:0..."),
	    16);
	ck_assert_double_eq(metrics_get(&n, "no"), 0);
	ck_assert_double_eq(metrics_get(&n, "y"), 0);
	ck_assert_double_eq(metrics_get(&n, "nothing"), 0);
	ck_assert_double_gt(metrics_get(&n, "large"), 1.8e19);
	ck_assert_double_eq(metrics_get(&n, "last"), 7);
	ck_assert_uint_eq(n.n, 6);
	metrics_free(&n);
}
END_TEST

START_TEST(nothing)
{
	struct metrics	n;
	struct buf	text = { 0 };

	metrics_parse(&n, &text);
	ck_assert_uint_eq(n.n, 0);
	ck_assert_str_eq(n.version, "");
	ck_assert_double_eq(metrics_get(&n, "requests"), 0);
	metrics_free(&n);
	buf_free(&text);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, read_and_found);
	tcase_add_test(tests, nothing);
}
