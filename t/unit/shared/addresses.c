/*
 * Unit test of shared/addresses.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "shared/addresses.h"
#include "t/unit/unit.h"

#define ENTRIES_MIN	256	/* places that there are at least */
#define THREADS		16

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
	struct address_limits	 limits = { .connections = 1, .max = 10 };
	struct addresses	*as = addresses_new(&limits, 1);
	struct address		*a, *b;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		a = addresses_connect(as, bytes(pairs[i].a), pairs[i].len_a, 0);
		b = addresses_connect(as, bytes(pairs[i].b), pairs[i].len_b, 0);
		ck_assert_msg(a != NULL && (b == NULL) == pairs[i].same,
		    "pair %zu", i);
		addresses_disconnect(as, &a, 0);
		if (b != NULL)
			addresses_disconnect(as, &b, 0);
		ck_assert_ptr_null(a);
		ck_assert_uint_eq(addresses_count(as), 0);
	}
	addresses_free(&as);
	ck_assert_ptr_null(as);
	addresses_free(&as);
}
END_TEST

START_TEST(connections)
{
	struct address_limits	 limits = { .connections = 3, .max = 10 };
	struct addresses	*as = addresses_new(&limits, 1);
	struct address		*a[3];

	for (int i = 0; i < 3; i++) {
		a[i] = addresses_connect(as, bytes("abcd"), 4, 0);
		ck_assert_ptr_nonnull(a[i]);
		ck_assert(addresses_request(as, a[i], 0));
	}
	ck_assert_ptr_null(addresses_connect(as, bytes("abcd"), 4, 0));
	ck_assert_ptr_null(addresses_connect(as, bytes("abcd"), 4, 0));
	addresses_disconnect(as, &a[1], 0);
	a[1] = addresses_connect(as, bytes("abcd"), 4, 0);
	ck_assert_ptr_nonnull(a[1]);
	ck_assert_ptr_null(addresses_connect(as, bytes("abcd"), 4, 0));
	for (int i = 0; i < 3; i++)
		addresses_disconnect(as, &a[i], 0);
	addresses_free(&as);
}
END_TEST

/* To leave and come back makes no difference. */
START_TEST(requests)
{
	struct address_limits	 limits = { 0, { 2, 5 }, 10 };
	struct addresses	*as = addresses_new(&limits, 1);
	struct address		*a = addresses_connect(as, bytes("abcd"), 4, 0);

	for (int i = 0; i < 5; i++) {
		ck_assert(addresses_request(as, a, 0));
		addresses_disconnect(as, &a, 0);
		a = addresses_connect(as, bytes("abcd"), 4, 0);
	}
	ck_assert(!addresses_request(as, a, 0));
	ck_assert(!addresses_request(as, a, 499));
	ck_assert(addresses_request(as, a, 500));
	ck_assert(!addresses_request(as, a, 500));
	addresses_disconnect(as, &a, 500);
	ck_assert_uint_eq(addresses_count(as), 1);
	/* Full again, there is nothing to remember. */
	a = addresses_connect(as, bytes("abcd"), 4, 3000);
	addresses_disconnect(as, &a, 3000);
	ck_assert_uint_eq(addresses_count(as), 0);
	addresses_free(&as);
}
END_TEST

/* Requests by bytes count for the same bucket, and ask for no connection. */
START_TEST(request_once)
{
	struct address_limits	 limits = { 1, { 2, 3 }, 10 };
	struct addresses	*as = addresses_new(&limits, 1);
	struct address		*a = addresses_connect(as, bytes("abcd"), 4, 0);

	ck_assert(addresses_request(as, a, 0));
	for (int i = 0; i < 2; i++)
		ck_assert(addresses_request_once(as, bytes("abcd"), 4, 0));
	ck_assert(!addresses_request_once(as, bytes("abcd"), 4, 0));
	ck_assert(!addresses_request(as, a, 0));
	ck_assert(addresses_request_once(as, bytes("abce"), 4, 0));
	addresses_disconnect(as, &a, 0);
	a = addresses_connect(as, bytes("abce"), 4, 0);
	ck_assert_ptr_nonnull(a);
	ck_assert(addresses_request(as, a, 0));
	addresses_disconnect(as, &a, 0);
	addresses_free(&as);
}
END_TEST

/* Addresses without connections are limited in number; others stay. */
START_TEST(most)
{
	struct address_limits	 limits = { 0, { 1, 5 }, 3 };
	struct addresses	*as = addresses_new(&limits, 1);
	struct address *stays = addresses_connect(as, bytes("stay"), 4, 0);
	struct address		*a;

	while (addresses_request(as, stays, 0))
		continue;
	for (uint32_t i = 0; i < 100000; i++) {
		a = addresses_connect(as, (const uint8_t *)&i, 4, 0);
		ck_assert(addresses_request(as, a, 0));
		addresses_disconnect(as, &a, 0);
		ck_assert_uint_le(addresses_count(as), ENTRIES_MIN);
	}
	ck_assert_uint_gt(addresses_count(as), 3);
	ck_assert(!addresses_request(as, stays, 999));
	addresses_disconnect(as, &stays, 999);
	/* All are full again: whoever comes finds room, and makes more. */
	for (uint32_t i = 0; i < 100000; i++) {
		a = addresses_connect(as, (const uint8_t *)&i, 4, 10000);
		addresses_disconnect(as, &a, 10000);
	}
	ck_assert_uint_eq(addresses_count(as), 0);
	addresses_free(&as);
}
END_TEST

/* Where there is no place, an address is let in, and not counted. */
START_TEST(full)
{
	struct address_limits	 limits = { .connections = 1, .max = 1 };
	struct addresses	*as = addresses_new(&limits, 1);
	struct address		*a[2 * ENTRIES_MIN];

	for (uint32_t i = 0; i < 2 * ENTRIES_MIN; i++) {
		a[i] = addresses_connect(as, (const uint8_t *)&i, 4, 0);
		ck_assert_ptr_nonnull(a[i]);
		ck_assert(addresses_request(as, a[i], 0));
	}
	ck_assert_uint_le(addresses_count(as), ENTRIES_MIN);
	for (uint32_t i = 0; i < 2 * ENTRIES_MIN; i++)
		addresses_disconnect(as, &a[i], 0);
	ck_assert_uint_eq(addresses_count(as), 0);
	addresses_free(&as);
}
END_TEST

/* Several count together; what one has counted goes with it. */
START_TEST(rows)
{
	struct address_limits	 limits = { .connections = 3, .max = 10 };
	struct addresses	*as = addresses_new(&limits, 3);
	struct address		*a[3];

	for (unsigned i = 0; i < 3; i++) {
		addresses_use_slot(as, i);
		a[i] = addresses_connect(as, bytes("abcd"), 4, 0);
		ck_assert_ptr_nonnull(a[i]);
	}
	addresses_use_slot(as, 0);
	ck_assert_ptr_null(addresses_connect(as, bytes("abcd"), 4, 0));
	addresses_clear_slot(as, 1);
	a[1] = addresses_connect(as, bytes("abcd"), 4, 0);
	ck_assert_ptr_nonnull(a[1]);
	ck_assert_ptr_null(addresses_connect(as, bytes("abcd"), 4, 0));
	addresses_disconnect(as, &a[0], 0);
	addresses_disconnect(as, &a[1], 0);
	addresses_use_slot(as, 2);
	ck_assert_uint_eq(addresses_count(as), 1);
	addresses_disconnect(as, &a[2], 0);
	ck_assert_uint_eq(addresses_count(as), 0);
	addresses_free(&as);
}
END_TEST

/* Processes that come and go at once, and one that is killed wherever it is:
 * nobody is let in beyond the limit, and nothing stays behind. */
static void
come_and_go(struct addresses *as, unsigned row, atomic_int *in, int limit)
{
	struct address	*a;

	addresses_use_slot(as, row);
	for (;;) {
		a = addresses_connect(as, bytes("abcd"), 4, 0);
		if (a == NULL)
			continue;
		if (row != 0 && atomic_fetch_add(in, 1) >= limit)
			_exit(1);
		if (row != 0)
			atomic_fetch_sub(in, 1);
		addresses_disconnect(as, &a, 0);
	}
}

START_TEST(processes)
{
	struct address_limits	 limits = { .connections = 2, .max = 10 };
	struct addresses	*as = addresses_new(&limits, 5);
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
		addresses_clear_slot(as, 0);
		if ((pids[0] = fork()) == 0)
			come_and_go(as, 0, in, 2);
	}
	for (unsigned i = 0; i < 4; i++) {
		kill(pids[i], SIGKILL);
		ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
		ck_assert(WIFSIGNALED(status));
		addresses_clear_slot(as, i);
	}
	addresses_use_slot(as, 4);
	for (int i = 0; i < 2; i++)
		ck_assert_ptr_nonnull(
		    a = addresses_connect(as, bytes("abcd"), 4, 0));
	ck_assert_ptr_null(addresses_connect(as, bytes("abcd"), 4, 0));
	ck_assert_uint_eq(addresses_count(as), 1);
	(void)a;
	addresses_free(&as);
}
END_TEST

/* Connects as often as an address may; the argument is the table. */
static void *
connect_all(void *arg)
{
	struct addresses	*as = arg;

	for (int i = 0; i < 2000; i++)
		(void)addresses_connect(as, bytes("abcd"), 4, 0);
	return NULL;
}

/* Threads of one process count each connection, however long one of them waits
 * for a processor while it has the lock. */
START_TEST(threads)
{
	struct address_limits	 limits = { .connections = 2000 * THREADS,
				    .max = 10 };
	struct addresses	*as = addresses_new(&limits, 1);
	pthread_t		 ids[THREADS];

	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&ids[i], NULL, connect_all,
		    as), 0);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(ids[i], NULL), 0);
	ck_assert_ptr_null(addresses_connect(as, bytes("abcd"), 4, 0));
	addresses_free(&as);
}
END_TEST

void
unit_tests(TCase *tc)
{
	tcase_add_test(tc, keys);
	tcase_add_test(tc, connections);
	tcase_add_test(tc, requests);
	tcase_add_test(tc, request_once);
	tcase_add_test(tc, most);
	tcase_add_test(tc, full);
	tcase_add_test(tc, rows);
	tcase_add_test(tc, processes);
	tcase_add_test(tc, threads);
}
