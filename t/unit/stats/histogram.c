/*
 * Tests of stats/histogram.
 */
#include <string.h>

#include "stats/histogram.h"
#include "t/unit/unit.h"

static const struct {
	int64_t	us;
	int	step;
} cases[] = {
	{ -5, 0 }, { 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 2 }, { 4, 3 },
	{ 1023, 10 }, { 1024, 11 }, { 1 << 30, 31 },
	{ INT64_MAX, HISTOGRAM_BUCKETS - 1 }
};

START_TEST(steps)
{
	struct histogram	h = { 0 };

	histogram_add(&h, cases[_i].us);
	ck_assert_uint_eq(h.n, 1);
	for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
		ck_assert_uint_eq(h.count[i], i == cases[_i].step);
}
END_TEST

/* Both ways to add do the same. */
START_TEST(shared)
{
	struct histogram	h = { 0 }, other = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) - 1; i++) {
		histogram_add(&h, cases[i].us);
		histogram_add_shared(&other, cases[i].us);
		ck_assert_mem_eq(&h, &other, sizeof(h));
	}
	histogram_add_shared(&other, 7);
	ck_assert_uint_eq(other.max, h.max);
}
END_TEST

START_TEST(texts)
{
	struct histogram	h = { 0 };
	char			text[HISTOGRAM_TEXT_SIZE], small[10];

	histogram_text(&h, text, sizeof(text));
	ck_assert_str_eq(text, "0 in all, mean 0 us, longest 0 us");
	histogram_add(&h, 5);
	histogram_add(&h, 6);
	histogram_add(&h, 16);
	histogram_text(&h, text, sizeof(text));
	ck_assert_str_eq(text, "3 in all, mean 9 us, longest 16 us; "
	    "4 to 8 us: 2, 16 to 32 us: 1");
	histogram_text(&h, small, sizeof(small));
	ck_assert_str_eq(small, "3 in all,");
	for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
		h.count[i] = UINT64_MAX;
	h.n = h.sum = h.max = UINT64_MAX;
	histogram_text(&h, text, sizeof(text));
	ck_assert_str_eq(strrchr(text, ' '), " 18446744073709551615");
}
END_TEST

/* The last bucket has no upper bound. */
START_TEST(has_no_end)
{
	struct histogram	h = { 0 };
	char			text[HISTOGRAM_TEXT_SIZE];

	histogram_add(&h, 0);
	histogram_add(&h, ((int64_t)1 << 30) - 1);
	histogram_add(&h, (int64_t)1 << 40);
	histogram_text(&h, text, sizeof(text));
	ck_assert_str_eq(strchr(text, ';'), "; 0 to 1 us: 1, "
	    "536870912 to 1073741824 us: 1, 1073741824 us and more: 1");
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, steps, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, shared);
	tcase_add_test(tests, texts);
	tcase_add_test(tests, has_no_end);
}
