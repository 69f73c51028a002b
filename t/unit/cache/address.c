/*
 * Unit test of cache/address.
 */
#include <string.h>

#include "cache/address.h"
#include "t/unit/unit.h"

/* Which addresses are one. */
static const struct {
	const char	*a, *b;
	size_t		 len_a, len_b;
	bool		 same;
} pairs[] = {
	{ "\x7f\0\0\1", "\x7f\0\0\1", 4, 4, true },
	{ "\x7f\0\0\1", "\x7f\0\0\2", 4, 4, false },
	{ "\x20\1\xd\xb8\0\0\0\1aaaaaaaa", "\x20\1\xd\xb8\0\0\0\1bbbbbbbb",
	    16, 16, true },
	{ "\x20\1\xd\xb8\0\0\0\1aaaaaaaa", "\x20\1\xd\xb8\0\0\0\2aaaaaaaa",
	    16, 16, false },
	{ "\x7f\0\0\1", "\x7f\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0", 4, 16, false },
	{ "\0\0\0\0", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 4, 16, false },
};

static const uint8_t *
bytes(const char *text)
{
	return (const uint8_t *)text;
}

START_TEST(keys)
{
	struct address_limits	 limits = { .connections = 1, .most = 10 };
	struct addresses	*as = address_new(&limits);
	struct address		*a, *b;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		a = address_enter(as, bytes(pairs[i].a), pairs[i].len_a, 0);
		b = address_enter(as, bytes(pairs[i].b), pairs[i].len_b, 0);
		ck_assert_msg(a != NULL && (b == NULL) == pairs[i].same,
		    "pair %zu", i);
		address_leave(as, &a, 0);
		if (b != NULL)
			address_leave(as, &b, 0);
		ck_assert_ptr_null(a);
		ck_assert_uint_eq(address_count(as), 0);
	}
	address_free(&as);
	ck_assert_ptr_null(as);
	address_free(&as);
}
END_TEST

START_TEST(connections)
{
	struct address_limits	 limits = { .connections = 3, .most = 10 };
	struct addresses	*as = address_new(&limits);
	struct address		*a[3];

	for (int i = 0; i < 3; i++) {
		a[i] = address_enter(as, bytes("abcd"), 4, 0);
		ck_assert_ptr_nonnull(a[i]);
		ck_assert(address_asks(as, a[i], 0));
	}
	ck_assert_ptr_null(address_enter(as, bytes("abcd"), 4, 0));
	ck_assert_ptr_null(address_enter(as, bytes("abcd"), 4, 0));
	address_leave(as, &a[1], 0);
	a[1] = address_enter(as, bytes("abcd"), 4, 0);
	ck_assert_ptr_nonnull(a[1]);
	ck_assert_ptr_null(address_enter(as, bytes("abcd"), 4, 0));
	for (int i = 0; i < 3; i++)
		address_leave(as, &a[i], 0);
	address_free(&as);
}
END_TEST

/* To leave and come back makes no difference. */
START_TEST(requests)
{
	struct address_limits	 limits = { 0, { 2, 5 }, 10 };
	struct addresses	*as = address_new(&limits);
	struct address		*a = address_enter(as, bytes("abcd"), 4, 0);

	for (int i = 0; i < 5; i++) {
		ck_assert(address_asks(as, a, 0));
		address_leave(as, &a, 0);
		a = address_enter(as, bytes("abcd"), 4, 0);
	}
	ck_assert(!address_asks(as, a, 0));
	ck_assert(!address_asks(as, a, 499));
	ck_assert(address_asks(as, a, 500));
	ck_assert(!address_asks(as, a, 500));
	address_leave(as, &a, 500);
	ck_assert_uint_eq(address_count(as), 1);
	/* Full again, it makes room for the next one. */
	a = address_enter(as, bytes("wxyz"), 4, 3000);
	ck_assert_uint_eq(address_count(as), 1);
	address_leave(as, &a, 3000);
	ck_assert_uint_eq(address_count(as), 0);
	address_free(&as);
}
END_TEST

/* Who has no connection is one of a limited number; who has one stays. */
START_TEST(most)
{
	struct address_limits	 limits = { 0, { 1, 5 }, 3 };
	struct addresses	*as = address_new(&limits);
	struct address		*stays = address_enter(as, bytes("stay"), 4, 0);
	struct address		*a;

	while (address_asks(as, stays, 0))
		continue;
	for (uint32_t i = 0; i < 1000; i++) {
		a = address_enter(as, (const uint8_t *)&i, 4, 0);
		ck_assert(address_asks(as, a, 0));
		address_leave(as, &a, 0);
		ck_assert_uint_le(address_count(as), 1 + 3);
	}
	ck_assert(!address_asks(as, stays, 999));
	address_leave(as, &stays, 999);
	ck_assert_uint_eq(address_count(as), 3);
	address_free(&as);
}
END_TEST

void
unit_tests(TCase *tc)
{
	tcase_add_test(tc, keys);
	tcase_add_test(tc, connections);
	tcase_add_test(tc, requests);
	tcase_add_test(tc, most);
}
