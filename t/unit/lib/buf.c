/*
 * Tests of lib/buf.
 */
#include <string.h>

#include "lib/buf.h"
#include "t/unit/unit.h"

START_TEST(grows)
{
	struct buf	b = { 0 };

	for (int i = 0; i < 10000; i++)
		buf_addc(&b, (char)('a' + i % 26));
	ck_assert_uint_eq(b.len, 10000);
	for (int i = 0; i < 10000; i++)
		ck_assert_int_eq(b.at[i], 'a' + i % 26);
	ck_assert_uint_eq(strlen(buf_string(&b)), 10000);
	buf_free(&b);
	ck_assert_ptr_null(b.at);
}
END_TEST

START_TEST(formats)
{
	struct buf	b = { 0 };

	buf_adds(&b, "x");
	buf_addf(&b, "%d-%s", 42, "y");
	ck_assert_str_eq(buf_string(&b), "x42-y");
	/* Longer than the first allocation. */
	buf_addf(&b, "%0300d", 7);
	ck_assert_uint_eq(b.len, 305);
	buf_free(&b);
}
END_TEST

START_TEST(adds_numbers)
{
	static const uint64_t	 all[] = { 0, 9, 10, 65535, UINT64_MAX };
	struct buf		 b = { 0 };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		buf_add_number(&b, all[i]);
		buf_addc(&b, ' ');
	}
	ck_assert_str_eq(buf_string(&b), "0 9 10 65535 18446744073709551615 ");
	buf_free(&b);
}
END_TEST

START_TEST(cuts)
{
	struct buf	b = { 0 };

	buf_adds(&b, "abcdef");
	buf_consume(&b, 0);
	buf_consume(&b, 2);
	ck_assert_str_eq(buf_string(&b), "cdef");
	buf_consume(&b, 4);
	ck_assert_uint_eq(b.len, 0);
	ck_assert_str_eq(buf_string(&b), "");
	buf_free(&b);
}
END_TEST

START_TEST(takes)
{
	struct buf	b = { 0 };
	char		to[4] = "";

	ck_assert_uint_eq(buf_take(&b, to, sizeof(to)), 0);
	buf_adds(&b, "abcde");
	ck_assert_uint_eq(buf_take(&b, to, 3), 3);
	ck_assert_str_eq(to, "abc");
	ck_assert_uint_eq(buf_take(&b, to, sizeof(to)), 2);
	ck_assert_str_eq(to, "dec");
	ck_assert_uint_eq(buf_take(&b, to, sizeof(to)), 0);
	buf_free(&b);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, grows);
	tcase_add_test(tests, formats);
	tcase_add_test(tests, adds_numbers);
	tcase_add_test(tests, cuts);
	tcase_add_test(tests, takes);
}
