/*
 * Tests of the chooser, by tables of epochs: what each policy would have missed,
 * what was missed, and what the chooser makes of it.
 */
#include "cache/chooser.h"
#include "t/unit/unit.h"

#define MINUTE	((int64_t)60 * 1000)
#define HOUR	(60 * MINUTE)

enum { LRU, SIEVE, S3FIFO, LFU, GDSF };

static struct chooser	chooser;
static int64_t		now;
static uint32_t		from, to;

static void
begin(unsigned policy)
{
	chooser_init(&chooser, policy);
	now = 5 * HOUR;
}

/* An epoch, a minute later.  Figures are thousandths of requests; others miss
 * as lru does. */
static enum chooser_reason
judge(uint32_t lru, uint32_t sieve, uint32_t gdsf, uint32_t real)
{
	struct chooser_epoch	e = {
		.would = { lru * 1000, sieve * 1000, lru * 1000, lru * 1000,
		    gdsf * 1000 },
		.real = real * 1000,
	};

	now += MINUTE;
	return chooser_judge(&chooser, &e, now, &from, &to);
}

/* Epochs in which the policies are equal, so that the first choice is over. */
static void
begin_settled(unsigned policy)
{
	begin(policy);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(judge(300, 300, 300, 300), CHOOSER_STAY);
	ck_assert_uint_eq(chooser.policy, policy);
}

/* Whatever it begins with, it takes the best after the first epoch. */
START_TEST(first_choice)
{
	begin((unsigned)_i);
	if (_i == GDSF)
		ck_assert_int_eq(judge(300, 250, 200, 200), CHOOSER_STAY);
	else {
		ck_assert_int_eq(judge(300, 250, 200, 300), CHOOSER_FIRST);
		ck_assert_uint_eq(to, 200000);
		ck_assert_uint_eq(from, _i == SIEVE ? 250000 : 300000);
	}
	ck_assert_uint_eq(chooser.policy, GDSF);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(judge(300, 250, 200, 200), CHOOSER_STAY);
	ck_assert_uint_eq(chooser.changes, _i != GDSF);
}
END_TEST

/* Somebody else chooses: what was learnt is forgotten, the changes of the day
 * are not. */
START_TEST(restarted)
{
	begin_settled(LRU);
	for (int i = 0; i < 6; i++)
		judge(300, 300, 200, 300);
	ck_assert_uint_eq(chooser.policy, GDSF);
	ck_assert_uint_eq(chooser.changes, 1);
	chooser_restart(&chooser, SIEVE);
	ck_assert_uint_eq(chooser.policy, SIEVE);
	ck_assert_uint_eq(chooser.changes, 1);
	/* The trial of gdsf, which would fail here, is over. */
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(judge(300, 300, 300, 500), CHOOSER_STAY);
	chooser_restart(&chooser, LFU);
	ck_assert_int_eq(judge(300, 300, 200, 300), CHOOSER_FIRST);
	ck_assert_uint_eq(chooser.policy, GDSF);
	ck_assert_uint_eq(chooser.changes, 2);
}
END_TEST

static const struct {
	uint32_t	lru, gdsf;	/* thousandths */
	bool		changes;
} margins[] = {
	{ 300, 280, true },
	{ 300, 290, true },		/* by one percent of requests */
	{ 300, 292, false },		/* less, and too small a part */
	{ 100, 95, true },		/* by half a percent, a twentieth */
	{ 100, 96, false },
	{ 10, 6, false },		/* a large part of little */
	{ 0, 0, false },
	{ 1000, 1000, false },
};

#define MARGINS	((int)(sizeof(margins) / sizeof(margins[0])))

START_TEST(margin)
{
	begin(LRU);
	ck_assert_int_eq(judge(margins[_i].lru, margins[_i].lru,
	    margins[_i].gdsf, margins[_i].lru),
	    margins[_i].changes ? CHOOSER_FIRST : CHOOSER_STAY);
}
END_TEST

/* The first choices are by the last epoch alone, as policies learn. */
START_TEST(last_epoch)
{
	begin(LRU);
	ck_assert_int_eq(judge(300, 250, 290, 300), CHOOSER_FIRST);
	ck_assert_uint_eq(chooser.policy, SIEVE);
	ck_assert_int_eq(judge(300, 250, 250, 250), CHOOSER_STAY);
	ck_assert_int_eq(judge(300, 250, 240, 250), CHOOSER_FIRST);
	ck_assert_uint_eq(chooser.policy, GDSF);
	ck_assert_uint_eq(from, 250000);
	ck_assert_uint_eq(to, 240000);
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(judge(300, 240, 240, 240), CHOOSER_STAY);
}
END_TEST

/* Later a point alone is no margin, however long it lasts. */
START_TEST(small_part)
{
	begin_settled(LRU);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(judge(300, 300, 286, 300), CHOOSER_STAY);
	while (judge(300, 300, 284, 300) != CHOOSER_BETTER)
		;
	ck_assert_uint_eq(chooser.policy, GDSF);
}
END_TEST

/* Later it takes three epochs in a row, and a mean that has the margin. */
START_TEST(in_a_row)
{
	begin_settled(LRU);
	ck_assert_int_eq(judge(300, 300, 200, 300), CHOOSER_STAY);
	ck_assert_int_eq(judge(300, 300, 200, 300), CHOOSER_STAY);
	ck_assert_int_eq(judge(300, 300, 200, 300), CHOOSER_BETTER);
	ck_assert_uint_eq(chooser.policy, GDSF);
	ck_assert_uint_eq(from, 300000);
}
END_TEST

START_TEST(not_in_a_row)
{
	begin_settled(LRU);
	for (int i = 0; i < 50; i++) {
		ck_assert_int_eq(judge(300, 300, 280, 300), CHOOSER_STAY);
		ck_assert_int_eq(judge(300, 300, 280, 300), CHOOSER_STAY);
		ck_assert_int_eq(judge(300, 300, 380, 300), CHOOSER_STAY);
	}
}
END_TEST

/* The new policy misses more than the old one would have: back, and not again
 * for an hour. */
START_TEST(failed)
{
	int64_t	changed;

	begin_settled(LRU);
	while (judge(300, 300, 200, 300) != CHOOSER_BETTER)
		;
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(judge(300, 300, 200, 320), CHOOSER_STAY);
	ck_assert_int_eq(judge(300, 300, 200, 320), CHOOSER_FAILED);
	ck_assert_uint_eq(chooser.policy, LRU);
	ck_assert_uint_eq(from, 320000);
	ck_assert_uint_eq(to, 300000);
	changed = now;
	while (judge(300, 300, 200, 300) != CHOOSER_BETTER)
		;
	ck_assert_int_ge(now - changed, HOUR);
	ck_assert_int_le(now - changed, HOUR + 10 * MINUTE);
}
END_TEST

/* It misses more at first, as it must learn, and that is no failure. */
START_TEST(learns)
{
	begin_settled(LRU);
	while (judge(300, 300, 200, 300) != CHOOSER_BETTER)
		;
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(judge(300, 300, 200, 400), CHOOSER_STAY);
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(judge(300, 300, 200, 200), CHOOSER_STAY);
	ck_assert_uint_eq(chooser.policy, GDSF);
}
END_TEST

/* Two policies take turns in being the better one, for three days. */
START_TEST(changes_a_day)
{
	enum chooser_reason	reason;
	int64_t			at[1000], n = 0;
	bool			other;

	begin_settled(LRU);
	for (int i = 0; i < 3 * 24 * 60; i++) {
		other = i / 15 % 2 == 1;
		reason = judge(300, other ? 200 : 400, other ? 400 : 200, 300);
		if (reason == CHOOSER_STAY)
			continue;
		at[n++] = now;
		if (n > CHOOSER_DAY_MAX)
			ck_assert_int_ge(now - at[n - 1 - CHOOSER_DAY_MAX],
			    24 * HOUR);
		if (n > 1)
			ck_assert_int_ge(now - at[n - 2], 6 * MINUTE);
	}
	ck_assert_int_ge(n, 6);
	ck_assert_int_le(n, 3 * CHOOSER_DAY_MAX);
}
END_TEST

/* The clock is set back by a day: nothing is barred for longer than it was
 * meant to be. */
START_TEST(clock_back)
{
	begin_settled(LRU);
	while (judge(300, 300, 200, 300) != CHOOSER_BETTER)
		;
	now -= 24 * HOUR;
	for (int i = 0; i < 60 && chooser.policy == GDSF; i++)
		judge(200, 300, 300, 300);
	ck_assert_uint_eq(chooser.policy, LRU);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_loop_test(tests, first_choice, 0, POLICY_NUMBER);
	tcase_add_loop_test(tests, margin, 0, MARGINS);
	tcase_add_test(tests, last_epoch);
	tcase_add_test(tests, small_part);
	tcase_add_test(tests, in_a_row);
	tcase_add_test(tests, not_in_a_row);
	tcase_add_test(tests, failed);
	tcase_add_test(tests, learns);
	tcase_add_test(tests, changes_a_day);
	tcase_add_test(tests, clock_back);
	tcase_add_test(tests, restarted);
}
