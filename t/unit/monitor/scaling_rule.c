/*
 * Unit test of monitor/scaling_rule: a table of loads, with a clock of its own.
 */
#include <stdbool.h>

#include "monitor/scaling_rule.h"
#include "t/unit/unit.h"

#define COUNT(a) (int)(sizeof(a) / sizeof((a)[0]))
#define SECOND	1000		/* ms */

/* A load is in percent of a processor; it may be more than the mains can do. */
struct phase {
	int	seconds, load;
};

/* What a load does to the number of mains: how many there are at the end, at
 * most meanwhile, and how many changes. */
static const struct {
	const char	*name;
	unsigned	 min, max;
	struct phase	 phases[3];
	int		 times;		/* that the phases come */
	unsigned	 last, most, changes;
} cases[] = {
	{ "idle", 1, 4, { { 600, 0 } }, 1, 1, 1, 0 },
	{ "busy, but one is enough", 1, 4, { { 600, 70 } }, 1, 1, 1, 0 },
	{ "at the bound", 1, 4, { { 600, 75 } }, 1, 1, 1, 0 },
	{ "busy for four seconds", 1, 4,
	    { { 60, 10 }, { 3, 100 }, { 60, 10 } }, 5, 1, 1, 0 },
	{ "more than one can do", 1, 4, { { 600, 120 } }, 1, 2, 2, 1 },
	{ "more than two can do", 1, 4, { { 600, 220 } }, 1, 3, 3, 2 },
	{ "more than all can do", 1, 4, { { 600, 1000 } }, 1, 4, 4, 3 },
	{ "no more than the most", 2, 2, { { 600, 1000 } }, 1, 2, 2, 0 },
	{ "it goes again", 1, 4, { { 60, 400 }, { 600, 0 } }, 1, 1, 4, 6 },
	{ "down to the least", 2, 4, { { 60, 400 }, { 600, 0 } }, 1, 2, 4, 4 },
	{ "a little less", 1, 4, { { 60, 120 }, { 600, 60 } }, 1, 2, 2, 1 },
	{ "low for less than a minute", 1, 4,
	    { { 30, 120 }, { 59, 10 } }, 20, 2, 2, 1 },
	{ "a wave of 30 s", 1, 2, { { 15, 100 }, { 15, 10 } }, 40, 2, 2, 1 },
};

/* Runs a second of that load; true: the number of mains changes. */
static bool
run_second(struct scaling_rule *r, unsigned *mains, int load, int64_t *now)
{
	int64_t			can = 100 * (int64_t)*mains;
	int64_t			busy = (load < can ? load : can) * 10000;
	enum scaling_change	change;

	*now += SECOND;
	change = scaling_rule_decide(r, *mains, *now, SECOND, busy);
	if (change == SCALING_KEEP)
		return false;
	scaling_rule_changed(r);
	*mains += change == SCALING_ADD ? 1 : -1U;
	ck_assert_uint_ge(*mains, r->min);
	ck_assert_uint_le(*mains, r->max);
	return true;
}

START_TEST(loads)
{
	struct scaling_rule	rule;
	unsigned		mains = cases[_i].min, most = mains;
	unsigned		changes = 0;
	int64_t			now = 12345;
	const struct phase	*p;

	scaling_rule_begin(&rule, cases[_i].min, cases[_i].max);
	for (int n = 0; n < cases[_i].times; n++)
		for (p = cases[_i].phases; p < cases[_i].phases + 3; p++)
			for (int s = 0; s < p->seconds; s++) {
				changes += run_second(&rule, &mains, p->load,
				    &now);
				most = mains > most ? mains : most;
			}
	ck_assert_msg(mains == cases[_i].last && most == cases[_i].most &&
	    changes == cases[_i].changes, "%s: %u mains, %u at most, %u "
	    "changes", cases[_i].name, mains, most, changes);
}
END_TEST

/* The second main comes within six seconds, whenever in a second the load
 * begins. */
START_TEST(step)
{
	struct scaling_rule	rule;
	unsigned		mains;
	int64_t			now, begun, busy;

	for (int part = 0; part <= SECOND; part += 100) {
		scaling_rule_begin(&rule, 1, 2);
		mains = 1;
		now = 0;
		for (int i = 0; i < 20; i++)
			run_second(&rule, &mains, 10, &now);
		begun = now + part;
		now += SECOND;
		busy = part * 100 + (SECOND - part) * 900;
		ck_assert_int_eq(scaling_rule_decide(&rule, 1, now, SECOND,
		    busy), SCALING_KEEP);
		while (mains == 1)
			run_second(&rule, &mains, 90, &now);
		ck_assert_int_le(now - begun, 6 * SECOND);
	}
}
END_TEST

/* However long a wave of load is, and however high: after it has begun, no more
 * than two changes a minute. */
START_TEST(waves)
{
	struct scaling_rule	rule;
	unsigned		mains, changes;
	int64_t			now;

	for (int half = 1; half < 400; half += half < 20 ? 1 : 7)
		for (int load = 80; load <= 800; load += 60) {
			scaling_rule_begin(&rule, 1, 8);
			mains = 1;
			changes = 0;
			now = 0;
			for (int s = 0; s < 7200; s++) {
				if (s == 3600)
					changes = 0;
				changes += run_second(&rule, &mains,
				    s / half % 2 == 0 ? load : 0, &now);
			}
			ck_assert_msg(changes <= 2 * 60, "%d s of %d %%: %u "
			    "changes in an hour", half, load, changes);
		}
}
END_TEST

/* A monitor that was stopped for a while looks at all that time. */
START_TEST(late)
{
	struct scaling_rule	rule;

	scaling_rule_begin(&rule, 1, 2);
	for (int i = 0; i < SCALING_SAMPLES - 1; i++)
		ck_assert_int_eq(scaling_rule_decide(&rule, 1, i * SECOND,
		    SECOND, 900000), SCALING_KEEP);
	ck_assert_int_eq(scaling_rule_decide(&rule, 1, 99 * SECOND,
	    95 * SECOND, 0), SCALING_KEEP);
	ck_assert_uint_lt(rule.utilisation, SCALING_LOW);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, loads, 0, COUNT(cases));
	tcase_add_test(t, step);
	tcase_add_test(t, waves);
	tcase_add_test(t, late);
}
