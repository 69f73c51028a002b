/*
 * Tests of loop/held: output grows until the total is used up, and gives memory
 * back when it has been consumed.
 */
#include <stdint.h>
#include <string.h>

#include "loop/held.h"
#include "t/unit/unit.h"

#define K		1024
#define LARGE		(1024 * K)

static struct held_total	total;
static struct held		held[2];
static struct backend		backends[2];

static void
begin(void)
{
	total = (struct held_total){ .most = 96 * K };
	for (int i = 0; i < 2; i++) {
		held[i] = (struct held){ .total = &total, .most = LARGE };
		backends[i] = (struct backend){ .at = NULL };
	}
}

static void
end(void)
{
	for (int i = 0; i < 2; i++)
		held_free(&held[i]);
	ck_assert_uint_eq(total.bytes, 0);
}

/* Takes what there is room for, up to n bytes; returns how many. */
static size_t
take(int i, size_t n)
{
	struct buf	*b = &held[i].output;
	size_t		 room = held_make_room(&held[i], &backends[i]);

	n = n < room ? n : room;
	memset(b->at + b->len, 'a' + i, n);
	b->len += n;
	backends[i].len += n;
	return n;
}

static size_t
fill(int i)
{
	while (take(i, SIZE_MAX) > 0)
		continue;
	return backends[i].len;
}

/* The first answer gets all, the second one still gets its minimum. */
START_TEST(shares_the_total)
{
	ck_assert_uint_eq(fill(0), 128 * K);
	ck_assert_uint_eq(total.bytes, 96 * K);
	ck_assert_uint_eq(fill(1), HELD_MIN);
	ck_assert_uint_eq(total.bytes, 96 * K);
	ck_assert(!held_is_low(&held[0], &backends[0]));
	ck_assert(!held_is_low(&held[1], &backends[1]));
	held_consume(&held[1], &backends[1], HELD_MIN / 2);
	ck_assert(held_is_low(&held[1], &backends[1]));
	ck_assert_uint_eq(fill(1), HELD_MIN);
}
END_TEST

/* A large buffer stays until its last byte is consumed. */
START_TEST(gives_back)
{
	fill(0);
	held_consume(&held[0], &backends[0], 128 * K - 1);
	ck_assert_uint_eq(total.bytes, 96 * K);
	ck_assert_int_eq(*backends[0].at, 'a');
	held_consume(&held[0], &backends[0], 1);
	ck_assert_ptr_null(backends[0].at);
	ck_assert_uint_eq(total.bytes, 0);
	ck_assert_uint_eq(fill(1), 128 * K);
}
END_TEST

/* A buffer doubles: it does not if too little of the total is left for that. */
START_TEST(counts_memory)
{
	total.most = 95 * K;
	ck_assert_uint_eq(fill(0), 64 * K);
	ck_assert_uint_eq(total.bytes, 32 * K);
	ck_assert_uint_eq(fill(1), 64 * K);
	ck_assert_uint_eq(total.bytes, 64 * K);
	ck_assert_uint_le(held[0].output.size + held[1].output.size,
	    total.bytes + 2 * HELD_MIN);
}
END_TEST

/* No answer gets more than its own limit, and a small one counts as nothing. */
START_TEST(keeps_to_its_own)
{
	held[0].most = 5;
	ck_assert_uint_eq(fill(0), 5);
	held[1].most = 40 * K;
	ck_assert_uint_eq(fill(1), 40 * K);
	ck_assert_uint_eq(total.bytes, 32 * K);
	ck_assert(!held_is_low(&held[1], &backends[1]));
	held_consume(&held[1], &backends[1], 20 * K);
	ck_assert(held_is_low(&held[1], &backends[1]));
}
END_TEST

/* Output that is consumed as it comes never counts. */
START_TEST(fast_client)
{
	total.most = 0;
	for (int i = 0; i < 100; i++) {
		ck_assert_uint_eq(take(0, SIZE_MAX), HELD_MIN);
		held_consume(&held[0], &backends[0], HELD_MIN);
		ck_assert_uint_eq(total.bytes, 0);
	}
}
END_TEST

START_TEST(counts_for_others)
{
	size_t	counted = 0;

	ck_assert(held_grow(&total, &counted, HELD_MIN));
	ck_assert_uint_eq(counted, 0);
	ck_assert(held_grow(&total, &counted, 65 * K));
	ck_assert(!held_grow(&total, &counted, 129 * K));
	ck_assert_uint_eq(counted, 96 * K);
	ck_assert_uint_eq(fill(0), HELD_MIN);
	held_uncount(&total, &counted);
	ck_assert_uint_eq(counted, 0);
	ck_assert_uint_eq(fill(0), 128 * K);
}
END_TEST

/* Answers use one buffer in turn.  A large one is freed. */
START_TEST(leaves_its_buffer)
{
	struct buf	 spare = { 0 };
	const char	*at;

	held[0].spare = held[1].spare = &spare;
	take(0, 1);
	at = backends[0].at;
	held_consume(&held[0], &backends[0], 1);
	ck_assert_ptr_eq(spare.at, at);
	for (int i = 1; i >= 0; i--) {
		take(i, 1);
		ck_assert_ptr_eq(backends[i].at, at);
		ck_assert_ptr_null(spare.at);
		held_consume(&held[i], &backends[i], 1);
	}
	take(0, 1);
	take(1, 1);
	ck_assert_ptr_eq(backends[0].at, at);
	ck_assert_ptr_ne(backends[1].at, at);
	for (int i = 0; i < 2; i++)
		held_consume(&held[i], &backends[i], 1);
	ck_assert_ptr_eq(spare.at, at);
	fill(0);
	ck_assert_ptr_null(spare.at);
	held_free(&held[0]);
	ck_assert_ptr_null(spare.at);
	held[0].spare = held[1].spare = NULL;
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, shares_the_total);
	tcase_add_test(t, gives_back);
	tcase_add_test(t, counts_memory);
	tcase_add_test(t, keeps_to_its_own);
	tcase_add_test(t, fast_client);
	tcase_add_test(t, counts_for_others);
	tcase_add_test(t, leaves_its_buffer);
}
