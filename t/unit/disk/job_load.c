/*
 * Unit test of disk/job_load: a table of what has happened in some time.
 */
#include "disk/job_load.h"
#include "t/unit/unit.h"

#define COUNT(a)	(int)(sizeof(a) / sizeof((a)[0]))
#define SECOND		1000000		/* us */
#define ONE		1000000		/* a helper */

static const struct {
	const char	*name;
	int64_t		 seconds;
	uint64_t	 jobs, us;	/* done, each for so long */
	size_t		 before, after;	/* jobs that wait */
	int64_t		 load;
} cases[] = {
	{ "nothing", 10, 0, 0, 0, 0, 0 },
	{ "nothing is done", 10, 0, 0, 0, 9, 0 },
	{ "one helper, half of the time", 10, 1000, 5000, 0, 0, ONE / 2 },
	{ "one helper, all the time", 1, 100, 10000, 0, 0, ONE },
	{ "three helpers", 100, 30000, 10000, 0, 0, 3 * ONE },
	{ "as many wait as before", 1, 100, 10000, 7, 7, ONE },
	{ "half of those that come wait", 1, 100, 10000, 0, 100, 2 * ONE },
	{ "some of before are done, too", 1, 100, 10000, 50, 0, ONE / 2 },
	{ "all were there before", 1, 100, 10000, 100, 0, 0 },
	{ "seldom", 3600, 1, SECOND, 0, 0, 278 },
};

START_TEST(loads)
{
	struct job_load	l = { .since = 5 * SECOND, .jobs = 77, .us = 88,
			    .queued = cases[_i].before };
	int64_t		now = l.since + cases[_i].seconds * SECOND;
	uint64_t	us = l.us + cases[_i].jobs * cases[_i].us;
	int64_t		load = job_load_measure(&l, now,
			    l.jobs + cases[_i].jobs, us, cases[_i].after);

	ck_assert_msg(load == cases[_i].load, "%s: %lld", cases[_i].name,
	    (long long)load);
	/* Too early for another. */
	ck_assert_int_eq(job_load_measure(&l, now + SECOND - 1, l.jobs + 99,
	    us + SECOND, 0), load);
	ck_assert_int_eq(job_load_measure(&l, now + SECOND, l.jobs, us,
	    cases[_i].after), 0);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, loads, 0, COUNT(cases));
}
