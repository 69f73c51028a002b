/*
 * Tests of lib/str: tables.
 */
#include <string.h>

#include "lib/str.h"
#include "t/unit/unit.h"

static const struct {
	const char	*text;
	bool		 is;
	int64_t		 number;
} numbers[] = {
	{ "0", true, 0 }, { "7", true, 7 }, { "007", true, 7 },
	{ "9223372036854775807", true, INT64_MAX },
	{ "9223372036854775808", false, 0 },
	{ "92233720368547758070", false, 0 },
	{ "", false, 0 }, { "-1", false, 0 }, { "+1", false, 0 },
	{ " 1", false, 0 }, { "1 ", false, 0 }, { "0x1", false, 0 },
};

START_TEST(number)
{
	int64_t	n = -5;

	ck_assert(str_number(str_of(numbers[_i].text), &n) == numbers[_i].is);
	ck_assert_int_eq(n, numbers[_i].is ? numbers[_i].number : -5);
}
END_TEST

static const struct {
	const char	*list, *elements;	/* joined by | */
} lists[] = {
	{ "", "" }, { ",", "" }, { " , ,", "" },
	{ "a", "a|" }, { "a,b", "a|b|" }, { " a ,\tb\t", "a|b|" },
	{ ",a,,b,", "a|b|" }, { "\"a,b\",c", "\"a,b\"|c|" },
	{ "W/\"x\", \"y\\\",z\"", "W/\"x\"|\"y\\\",z\"|" },
	{ "\"open,a", "\"open,a|" }, { "a b", "a b|" }, { "\"\\", "\"\\|" },
};

START_TEST(list)
{
	struct str	rest = str_of(lists[_i].list), e;
	char		joined[100] = "";

	while (str_next(&rest, &e)) {
		strncat(joined, e.at, e.len);
		strcat(joined, "|");
	}
	ck_assert_str_eq(joined, lists[_i].elements);
}
END_TEST

START_TEST(compare)
{
	ck_assert(str_same(STR("ab"), STR("ab")));
	ck_assert(!str_same(STR("ab"), STR("aB")));
	ck_assert(!str_same(STR("ab"), STR("abc")));
	ck_assert(str_same((struct str){ NULL, 0 }, STR("")));
	ck_assert(str_same_nocase(STR("Close"), STR("cLOSE")));
	ck_assert(!str_same_nocase(STR("close"), STR("closed")));
	ck_assert(str_is(STR("cLOSE"), "Close"));
	ck_assert(!str_is(STR("close"), "closed"));
	ck_assert(!str_is(STR("closed"), "close"));
	ck_assert(!str_is(STR("close\0"), "close"));
	ck_assert(!str_is(STR("-"), "\r"));
	ck_assert(!str_is(STR(""), ""));
	ck_assert(str_starts(STR("abc"), STR("ab")));
	ck_assert(str_starts(STR("abc"), STR("")));
	ck_assert(!str_starts(STR("a"), STR("ab")));
}
END_TEST

START_TEST(trim)
{
	struct str	s = str_trim(STR(" \t a b \t"));

	ck_assert(str_same(s, STR("a b")));
	ck_assert_uint_eq(str_trim(STR(" \t ")).len, 0);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, number, 0,
	    sizeof(numbers) / sizeof(numbers[0]));
	tcase_add_loop_test(tests, list, 0, sizeof(lists) / sizeof(lists[0]));
	tcase_add_test(tests, compare);
	tcase_add_test(tests, trim);
}
