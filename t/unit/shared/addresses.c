/*
 * Unit test of shared/addresses.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "shared/addresses.h"
#include "t/unit/unit.h"

#define LEAST	256	/* places that there are at least */

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
	struct addresses	*as = address_new(&limits, 1);
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
	struct addresses	*as = address_new(&limits, 1);
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
	struct addresses	*as = address_new(&limits, 1);
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
	/* Full again, there is nothing to remember. */
	a = address_enter(as, bytes("abcd"), 4, 3000);
	address_leave(as, &a, 3000);
	ck_assert_uint_eq(address_count(as), 0);
	address_free(&as);
}
END_TEST

/* Who has no connection is one of a limited number; who has one stays. */
START_TEST(most)
{
	struct address_limits	 limits = { 0, { 1, 5 }, 3 };
	struct addresses	*as = address_new(&limits, 1);
	struct address		*stays = address_enter(as, bytes("stay"), 4, 0);
	struct address		*a;

	while (address_asks(as, stays, 0))
		continue;
	for (uint32_t i = 0; i < 100000; i++) {
		a = address_enter(as, (const uint8_t *)&i, 4, 0);
		ck_assert(address_asks(as, a, 0));
		address_leave(as, &a, 0);
		ck_assert_uint_le(address_count(as), LEAST);
	}
	ck_assert_uint_gt(address_count(as), 3);
	ck_assert(!address_asks(as, stays, 999));
	address_leave(as, &stays, 999);
	/* All are full again: whoever comes finds room, and makes more. */
	for (uint32_t i = 0; i < 100000; i++) {
		a = address_enter(as, (const uint8_t *)&i, 4, 10000);
		address_leave(as, &a, 10000);
	}
	ck_assert_uint_eq(address_count(as), 0);
	address_free(&as);
}
END_TEST

/* Where there is no place, an address is let in, and not counted. */
START_TEST(full)
{
	struct address_limits	 limits = { .connections = 1, .most = 1 };
	struct addresses	*as = address_new(&limits, 1);
	struct address		*a[2 * LEAST];

	for (uint32_t i = 0; i < 2 * LEAST; i++) {
		a[i] = address_enter(as, (const uint8_t *)&i, 4, 0);
		ck_assert_ptr_nonnull(a[i]);
		ck_assert(address_asks(as, a[i], 0));
	}
	ck_assert_uint_le(address_count(as), LEAST);
	for (uint32_t i = 0; i < 2 * LEAST; i++)
		address_leave(as, &a[i], 0);
	ck_assert_uint_eq(address_count(as), 0);
	address_free(&as);
}
END_TEST

/* Several count together; what one has counted goes with it. */
START_TEST(rows)
{
	struct address_limits	 limits = { .connections = 3, .most = 10 };
	struct addresses	*as = address_new(&limits, 3);
	struct address		*a[3];

	for (unsigned i = 0; i < 3; i++) {
		address_use(as, i);
		a[i] = address_enter(as, bytes("abcd"), 4, 0);
		ck_assert_ptr_nonnull(a[i]);
	}
	address_use(as, 0);
	ck_assert_ptr_null(address_enter(as, bytes("abcd"), 4, 0));
	address_clear(as, 1);
	a[1] = address_enter(as, bytes("abcd"), 4, 0);
	ck_assert_ptr_nonnull(a[1]);
	ck_assert_ptr_null(address_enter(as, bytes("abcd"), 4, 0));
	address_leave(as, &a[0], 0);
	address_leave(as, &a[1], 0);
	address_use(as, 2);
	ck_assert_uint_eq(address_count(as), 1);
	address_leave(as, &a[2], 0);
	ck_assert_uint_eq(address_count(as), 0);
	address_free(&as);
}
END_TEST

/* Processes that come and go at once, and one that is killed wherever it is:
 * nobody is let in beyond the limit, and nothing stays behind. */
static void
come_and_go(struct addresses *as, unsigned row, atomic_int *in, int limit)
{
	struct address	*a;

	address_use(as, row);
	for (;;) {
		a = address_enter(as, bytes("abcd"), 4, 0);
		if (a == NULL)
			continue;
		if (row != 0 && atomic_fetch_add(in, 1) >= limit)
			_exit(1);
		if (row != 0)
			atomic_fetch_sub(in, 1);
		address_leave(as, &a, 0);
	}
}

START_TEST(processes)
{
	struct address_limits	 limits = { .connections = 2, .most = 10 };
	struct addresses	*as = address_new(&limits, 5);
	struct address		*a = NULL;
	atomic_int		*in = mmap(NULL, sizeof(*in), PROT_READ |
				    PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
	pid_t			 pids[4];
	int			 status;

	ck_assert_ptr_ne(in, MAP_FAILED);
	for (unsigned i = 0; i < 4; i++)
		if ((pids[i] = fork()) == 0)
			come_and_go(as, i, in, 2);
	for (int i = 0; i < 100; i++) {
		kill(pids[0], SIGKILL);
		ck_assert_int_eq(waitpid(pids[0], &status, 0), pids[0]);
		address_clear(as, 0);
		if ((pids[0] = fork()) == 0)
			come_and_go(as, 0, in, 2);
	}
	for (unsigned i = 0; i < 4; i++) {
		kill(pids[i], SIGKILL);
		ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
		ck_assert(WIFSIGNALED(status));
		address_clear(as, i);
	}
	address_use(as, 4);
	for (int i = 0; i < 2; i++)
		ck_assert_ptr_nonnull(a = address_enter(as, bytes("abcd"), 4,
		    0));
	ck_assert_ptr_null(address_enter(as, bytes("abcd"), 4, 0));
	ck_assert_uint_eq(address_count(as), 1);
	(void)a;
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
	tcase_add_test(tc, full);
	tcase_add_test(tc, rows);
	tcase_add_test(tc, processes);
}
