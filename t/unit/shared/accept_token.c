/*
 * Unit test of shared/accept_token: few keep the door, and there is always
 * somebody.
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#include "shared/accept_token.h"
#include "t/unit/unit.h"

#define MAINS	5
#define ROUNDS	200000

static struct turns		*turns;
static pthread_barrier_t	 barrier;
static int			 kept;		/* doors, by who works */

static void
setup(void)
{
	turns = turns_new(MAINS);
}

static void
teardown(void)
{
	turns_free(&turns);
	ck_assert_ptr_null(turns);
}

/* Whether its bell has been rung, which it hears once. */
static bool
heard(unsigned main)
{
	struct pollfd	p = { .fd = turns_bell(turns, main), .events = POLLIN };
	bool		rung = poll(&p, 1, 0) == 1;

	turns_hush(turns, main);
	return rung;
}

static unsigned
keepers(void)
{
	unsigned	n = 0;

	for (unsigned i = 0; i < MAINS; i++)
		n += turns_rest(turns, i);
	return n;
}

START_TEST(some_keep_the_door)
{
	ck_assert_uint_eq(keepers(), 2);
	ck_assert_uint_eq(keepers(), 2);	/* asked again, the same */
	ck_assert(turns_rest(turns, 0));
	ck_assert(!turns_rest(turns, 4));
	for (unsigned i = 0; i < MAINS; i++)
		ck_assert(!heard(i));
}
END_TEST

START_TEST(handed_on)
{
	keepers();
	turns_work(turns, 0);
	ck_assert(heard(2));
	ck_assert(!heard(3));
	ck_assert(turns_rest(turns, 2));
	ck_assert(!turns_rest(turns, 0));	/* it has been replaced */
	/* The first that is free is asked, not the one that has waited. */
	turns_work(turns, 1);
	ck_assert(heard(0));
	ck_assert(turns_rest(turns, 0));
}
END_TEST

START_TEST(all_at_work)
{
	keepers();
	for (unsigned i = 0; i < MAINS; i++)
		turns_work(turns, i);
	for (unsigned i = 0; i < MAINS; i++)
		heard(i);
	ck_assert(turns_rest(turns, 3));	/* nobody else does */
	ck_assert(turns_rest(turns, 4));
	ck_assert(!turns_rest(turns, 0));
}
END_TEST

/* Who was handed the door and has a client by now hands it on. */
START_TEST(late)
{
	keepers();
	turns_work(turns, 0);
	ck_assert(heard(2));
	turns_work(turns, 2);
	ck_assert(heard(3));
	ck_assert(turns_rest(turns, 3));
}
END_TEST

START_TEST(death)
{
	keepers();
	turns_left(turns, 0);
	ck_assert(heard(2));
	turns_left(turns, 3);			/* which had none */
	turns_left(turns, 1);
	ck_assert(heard(4));
	turns_left(NULL, 0);
}
END_TEST

/* They hear no bell, as if each had a client that waits for a disk. */
static void *
come_and_go(void *number)
{
	unsigned	main = *(unsigned *)number;

	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&barrier);
		for (int k = 0; k < 10; k++) {
			turns_rest(turns, main);
			turns_work(turns, main);
		}
		pthread_barrier_wait(&barrier);
		if (main != 0)
			continue;
		kept += !turns_rest(turns, 3) + !turns_rest(turns, 4);
		turns_work(turns, 3);
		turns_work(turns, 4);
	}
	return NULL;
}

START_TEST(nobody_at_work_keeps_it)
{
	pthread_t	threads[3];
	unsigned	numbers[3] = { 0, 1, 2 };

	pthread_barrier_init(&barrier, NULL, 3);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, come_and_go,
		    &numbers[i]), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
	ck_assert_int_eq(kept, 0);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, some_keep_the_door);
	tcase_add_test(tests, handed_on);
	tcase_add_test(tests, all_at_work);
	tcase_add_test(tests, late);
	tcase_add_test(tests, death);
	tcase_add_test(tests, nobody_at_work_keeps_it);
}
