/*
 * Tests of lib/lines: counting, cutting.
 */
#include <string.h>

#include "lib/lines.h"
#include "t/unit/unit.h"

static const struct {
	const char	*text;
	size_t		 max, whole;
	uint64_t	 count;
} cases[] = {
	{ "",			10,	0,	0 },
	{ "a",			10,	1,	0 },
	{ "\n",			10,	1,	1 },
	{ "ab\ncd\n",		6,	6,	2 },
	{ "ab\ncd\n",		5,	3,	2 },
	{ "ab\ncd\n",		3,	3,	2 },
	{ "ab\ncd\n",		2,	2,	2 },
	{ "ab\ncd\ne",		6,	6,	2 },
	{ "ab\ncd\ne",		7,	7,	2 },
	{ "\n\n\n",		2,	2,	3 },
};

START_TEST(counted_and_cut)
{
	const char	*text = cases[_i].text;

	ck_assert_uint_eq(lines_count(text, strlen(text)), cases[_i].count);
	ck_assert_uint_eq(lines_whole(text, strlen(text), cases[_i].max),
	    cases[_i].whole);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, counted_and_cut, 0,
	    sizeof(cases) / sizeof(cases[0]));
}
