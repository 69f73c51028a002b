/*
 * Unit test of shared/accept_token: few mains hold a token, and a token
 * never stays free while a main is idle.
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#include "shared/accept_token.h"
#include "t/unit/unit.h"

#define MAINS	5
#define ROUNDS	200000

static struct accept_token		*token;
static pthread_barrier_t	 barrier;
static int			 kept;		/* doors, by who works */

static void
setup(void)
{
	token = accept_token_new(MAINS);
}

static void
teardown(void)
{
	accept_token_free(&token);
	ck_assert_ptr_null(token);
}

/* Whether its wakeup has been rung, which it hears once. */
static bool
heard(unsigned main)
{
	struct pollfd p = {
	    .fd = accept_token_fd(token, main), .events = POLLIN};
	bool		rung = poll(&p, 1, 0) == 1;

	accept_token_reset_fd(token, main);
	return rung;
}

static unsigned
keepers(void)
{
	unsigned	n = 0;

	for (unsigned i = 0; i < MAINS; i++)
		n += accept_token_idle(token, i);
	return n;
}

START_TEST(some_keep_the_door)
{
	ck_assert_uint_eq(keepers(), 2);
	ck_assert_uint_eq(keepers(), 2);	/* asked again, the same */
	ck_assert(accept_token_idle(token, 0));
	ck_assert(!accept_token_idle(token, 4));
	for (unsigned i = 0; i < MAINS; i++)
		ck_assert(!heard(i));
}
END_TEST

START_TEST(handed_on)
{
	keepers();
	accept_token_busy(token, 0);
	ck_assert(heard(2));
	ck_assert(!heard(3));
	ck_assert(accept_token_idle(token, 2));
	ck_assert(!accept_token_idle(token, 0));	/* it has been replaced */
	/* The first that is free is asked, not the one that has waited. */
	accept_token_busy(token, 1);
	ck_assert(heard(0));
	ck_assert(accept_token_idle(token, 0));
}
END_TEST

START_TEST(all_at_work)
{
	keepers();
	for (unsigned i = 0; i < MAINS; i++)
		accept_token_busy(token, i);
	for (unsigned i = 0; i < MAINS; i++)
		heard(i);
	ck_assert(accept_token_idle(token, 3));	/* nobody else does */
	ck_assert(accept_token_idle(token, 4));
	ck_assert(!accept_token_idle(token, 0));
}
END_TEST

/* A main that has got a token and has a client by now passes it on. */
START_TEST(late)
{
	keepers();
	accept_token_busy(token, 0);
	ck_assert(heard(2));
	accept_token_busy(token, 2);
	ck_assert(heard(3));
	ck_assert(accept_token_idle(token, 3));
}
END_TEST

START_TEST(death)
{
	keepers();
	accept_token_main_died(token, 0);
	ck_assert(heard(2));
	accept_token_main_died(token, 3);			/* which had none */
	accept_token_main_died(token, 1);
	ck_assert(heard(4));
	accept_token_main_died(NULL, 0);
}
END_TEST

/* Mains that ignore their wakeups, as with a client that waits for a disk. */
static void *
come_and_go(void *number)
{
	unsigned	main = *(unsigned *)number;

	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&barrier);
		for (int k = 0; k < 10; k++) {
			accept_token_idle(token, main);
			accept_token_busy(token, main);
		}
		pthread_barrier_wait(&barrier);
		if (main != 0)
			continue;
		kept +=
		    !accept_token_idle(token, 3) + !accept_token_idle(token, 4);
		accept_token_busy(token, 3);
		accept_token_busy(token, 4);
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
