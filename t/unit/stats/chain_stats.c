/*
 * Tests of stats/chain_stats: what is shared, by whom, and for how long.
 */
#include <sys/wait.h>

#include <unistd.h>

#include "stats/chain_stats.h"
#include "t/unit/unit.h"

#define ROUNDS	20000

static const char *const	before[] = { "pages", "small" };
static const char *const	after[] = { "small", "new" };

static struct chain_stats_numbers	n;

START_TEST(without)
{
	chain_stats_add(0, CHAIN_STATS_RUNS);
	chain_stats_time(0, CHAIN_STATS_HISTOGRAM_TIME, 1);
	ck_assert(!chain_stats_read(0, &n));
}
END_TEST

static void
count_here(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		chain_stats_add(1, CHAIN_STATS_HITS);
		chain_stats_time(1, CHAIN_STATS_HISTOGRAM_TIME, i);
	}
}

/* No addition of several processes is lost. */
START_TEST(counts_of_all_processes)
{
	struct chain_stats	*s = chain_stats_new(before, 2);
	int			 status;

	chain_stats_use(s);
	if (fork() == 0) {
		count_here();
		_exit(0);
	}
	count_here();
	ck_assert_int_gt(wait(&status), 0);
	ck_assert_int_eq(status, 0);
	ck_assert(chain_stats_read(1, &n));
	ck_assert_str_eq(n.name, "small");
	ck_assert_uint_eq(n.counters[CHAIN_STATS_HITS], 2 * ROUNDS);
	ck_assert_uint_eq(n.counters[CHAIN_STATS_RUNS], 0);
	ck_assert_uint_eq(n.histograms[CHAIN_STATS_HISTOGRAM_TIME].n,
	    2 * ROUNDS);
	ck_assert(chain_stats_read(0, &n));
	ck_assert_uint_eq(n.counters[CHAIN_STATS_HITS], 0);
	ck_assert(!chain_stats_read(2, &n));
	chain_stats_add(2, CHAIN_STATS_HITS);	/* there is none */
	chain_stats_use(NULL);
	chain_stats_free(&s);
}
END_TEST

/* Counts are those of a name. */
START_TEST(goes_on_in_the_next_generation)
{
	struct chain_stats	*old = chain_stats_new(before, 2), *new;

	chain_stats_use(old);
	chain_stats_add(1, CHAIN_STATS_RUNS);
	new = chain_stats_new(after, 2);
	chain_stats_add(1, CHAIN_STATS_RUNS);
	chain_stats_free(&old);
	ck_assert_ptr_null(old);
	chain_stats_use(new);
	ck_assert(chain_stats_read(0, &n));
	ck_assert_uint_eq(n.counters[CHAIN_STATS_RUNS], 2);
	ck_assert(chain_stats_read(1, &n));
	ck_assert_uint_eq(n.counters[CHAIN_STATS_RUNS], 0);
	chain_stats_use(NULL);
	chain_stats_free(&new);
	chain_stats_free(&new);			/* does nothing */
}
END_TEST

/* Reloads are counted in all processes, and known to all generations. */
START_TEST(counts_reloads)
{
	struct chain_stats	*old = chain_stats_new(before, 2);
	struct chain_stats	*new = chain_stats_new(after, 2);
	uint64_t		 first = chain_stats_reloads();
	int			 status;

	ck_assert_uint_eq(first, 0);		/* none are in use */
	chain_stats_reload(0);
	chain_stats_use(old);
	first = chain_stats_reloads();
	ck_assert_uint_eq(chain_stats_reloaded(1), 0);
	if (fork() == 0) {
		chain_stats_reload(1);
		_exit(0);
	}
	ck_assert_int_gt(wait(&status), 0);
	ck_assert_uint_eq(chain_stats_reloads(), first + 1);
	ck_assert_uint_eq(chain_stats_reloaded(1), first + 1);
	ck_assert_uint_eq(chain_stats_reloaded(0), 0);
	ck_assert_int_gt(chain_stats_reloaded_at(), 0);
	chain_stats_reload(0);
	ck_assert_uint_eq(chain_stats_reloaded(0), first + 2);
	chain_stats_reload(2);			/* there is none */
	ck_assert_uint_eq(chain_stats_reloads(), first + 2);
	chain_stats_use(new);
	ck_assert_uint_eq(chain_stats_reloads(), first + 2);
	ck_assert_uint_eq(chain_stats_reloaded(0), first + 1);
	ck_assert_uint_eq(chain_stats_reloaded(1), 0);
	chain_stats_use(NULL);
	chain_stats_free(&old);
	chain_stats_free(&new);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, without);
	tcase_add_test(tests, counts_of_all_processes);
	tcase_add_test(tests, goes_on_in_the_next_generation);
	tcase_add_test(tests, counts_reloads);
}
