/*
 * Tests of http/limits/order: when small responses go first, and what large
 * ones get nevertheless.
 */
#include <check.h>

#include "http/limits/order.h"
#include "t/unit/unit.h"

#define MIB	(1 << 20)

static struct order_state	 order;

/* Sends small responses of so many bytes in all, but while the order is as
 * given; returns the bytes. */
static int64_t
send_small(int64_t bytes, bool suspended)
{
	int64_t	sent = 0;

	while (sent < bytes && order.suspended == suspended) {
		order_count(&order, false, 8192);
		sent += 8192;
	}
	return sent;
}

static void
begin(unsigned nwaiting)
{
	order_init(&order, true);
	order.nwaiting = nwaiting;
}

/* Whatever small ones send, large ones that wait are passed by a bounded number
 * of bytes; when they then get nothing, the bound grows, up to its maximum. */
START_TEST(suspended)
{
	int64_t	limit = ORDER_AHEAD;

	begin(2);
	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(send_small(INT64_MAX, false), limit);
		ck_assert_int_eq(send_small(INT64_MAX, true), limit);
		limit = 2 * limit < ORDER_AHEAD_MAX ? 2 * limit :
		    ORDER_AHEAD_MAX;
	}
}
END_TEST

/* A suspension that has helped makes the bound small again. */
START_TEST(helped)
{
	begin(1);
	for (int i = 0; i < 10; i++) {
		send_small(INT64_MAX, false);
		send_small(INT64_MAX, true);
	}
	ck_assert_int_eq(send_small(INT64_MAX, false), ORDER_AHEAD_MAX);
	for (int i = 0; i < ORDER_AHEAD_MAX / MIB / ORDER_SHARE; i++) {
		ck_assert(order.suspended);
		order_count(&order, true, MIB);
	}
	ck_assert(!order.suspended);
	ck_assert_int_eq(send_small(INT64_MAX, false), ORDER_AHEAD);
}
END_TEST

/* While large ones get their share, the order is kept. */
START_TEST(share)
{
	begin(1);
	for (int i = 0; i < 10000; i++) {
		ck_assert_int_eq(send_small(ORDER_SHARE * MIB / 8, false),
		    ORDER_SHARE * MIB / 8);
		order_count(&order, true, MIB / 8);
	}
	/* They get no credit for more. */
	order_count(&order, true, INT64_MAX);
	ck_assert_int_eq(send_small(INT64_MAX, false), ORDER_AHEAD);
}
END_TEST

/* Without a large response that waits, the order is kept. */
START_TEST(nobody_waits)
{
	begin(0);
	ck_assert_int_eq(send_small(10LL * ORDER_AHEAD_MAX, false),
	    10LL * ORDER_AHEAD_MAX);
	order.nwaiting = 1;
	ck_assert_int_eq(send_small(INT64_MAX, false), ORDER_AHEAD);
	order.nwaiting = 0;
	ck_assert_int_eq(send_small(INT64_MAX, true), 8192);
	order.nwaiting = 1;
	ck_assert_int_eq(send_small(INT64_MAX, false), ORDER_AHEAD);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, suspended);
	tcase_add_test(tests, helped);
	tcase_add_test(tests, share);
	tcase_add_test(tests, nobody_waits);
}
