/*
 * Unit test of lib/token_bucket.
 */
#include "lib/token_bucket.h"
#include "t/unit/unit.h"

#define LONG	((int64_t)1 << 60)	/* ms */

/* The tokens in a bucket some ms after n were taken. */
static const struct {
	int64_t	rate, burst, n, passed, want;
} cases[] = {
	{ 1, 1, 0, 0, 1 },
	{ 1, 1, 1, 0, 0 },
	{ 1, 1, 1, 999, 0 },
	{ 1, 1, 1, 1000, 1 },
	{ 1, 1, 1, LONG, 1 },
	{ 10, 5, 5, 99, 0 },
	{ 10, 5, 5, 100, 1 },
	{ 10, 5, 5, 450, 4 },
	{ 10, 5, 5, 500, 5 },
	{ 10, 5, 2, 100, 4 },
	{ 3, 5, 5, 333, 0 },
	{ 3, 5, 5, 334, 1 },
	{ 5000, 100, 100, 1, 5 },
	{ 5000, 100, 100, 20, 100 },
	{ 5000, 100, 100, 21, 100 },
	{ 1, 1000000, 1000000, LONG, 1000000 },
	{ (int64_t)64 << 30, (int64_t)64 << 30, (int64_t)64 << 30, 500,
	    (int64_t)32 << 30 },
	{ (int64_t)64 << 30, (int64_t)64 << 30, 5, LONG, (int64_t)64 << 30 },
};

START_TEST(holds)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct token_bucket_size	size = { cases[i].rate,
						    cases[i].burst };
		struct token_bucket		b;

		token_bucket_fill(&b, &size, 77);
		ck_assert_int_eq(b.level, size.burst * 1000);
		token_bucket_take(&b, cases[i].n);
		ck_assert_msg(token_bucket_refill(&b, &size, 77 +
		    cases[i].passed) == cases[i].want, "case %zu", i);
		ck_assert_msg((b.level == size.burst * 1000) ==
		    (cases[i].want == cases[i].burst), "case %zu: full", i);
	}
}
END_TEST

/* Frequent refills lose no token, and add none twice. */
START_TEST(often)
{
	struct token_bucket_size	size = { 7, 3 };
	struct token_bucket		b;
	int64_t				taken = 0;

	token_bucket_fill(&b, &size, 0);
	for (int64_t now = 0; now <= 100000; now++)
		if (token_bucket_refill(&b, &size, now) > 0) {
			token_bucket_take(&b, 1);
			taken++;
		}
	ck_assert_int_eq(taken, 3 + 700);
}
END_TEST

void
unit_tests(TCase *tc)
{
	tcase_add_test(tc, holds);
	tcase_add_test(tc, often);
}
