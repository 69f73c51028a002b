/*
 * Tests of stats/program_stats: what is shared, by whom, and for how long.
 */
#include <sys/wait.h>

#include <string.h>
#include <unistd.h>

#include "stats/program_stats.h"
#include "t/unit/unit.h"

#define PROCESSES	4
#define ROUNDS		20000

static char	*addresses[] = { (char []){ "unix:/run/a" },
		    (char []){ "127.0.0.1:9000" } };

static const struct program_stats_label	before[] = {
	{ "php", NULL, 0 }, { "/srv/\xc3\xa9\n\xff", NULL, 0 },
	{ "far", addresses, 2 },
};
static const struct program_stats_label	after[] = {
	{ "far", addresses, 1 }, { "new", NULL, 0 },
};

#define COUNT(table)	(sizeof(table) / sizeof((table)[0]))

static struct program_stats_numbers	n;

/* Without numbers in use, nothing is counted. */
START_TEST(without)
{
	program_stats_add(0, PROGRAM_STATS_REQUESTS, 1);
	program_stats_time(0, PROGRAM_STATS_HISTOGRAM_WAIT, 1);
	program_stats_set(0, PROGRAM_STATS_GAUGE_BUSY, 1);
	program_stats_set_server(0, 0, PROGRAM_STATS_SERVER_CONNECTIONS, 1);
	ck_assert(!program_stats_read(0, &n));
}
END_TEST

static _Noreturn void
count_here(int process)
{
	for (int i = 0; i < ROUNDS; i++) {
		program_stats_add(1, PROGRAM_STATS_REQUESTS, 2);
		program_stats_time(1, PROGRAM_STATS_HISTOGRAM_ANSWER,
		    process * ROUNDS + i);
	}
	_exit(0);
}

/* No addition of several processes is lost. */
START_TEST(counts_of_all_processes)
{
	const int		 all = PROCESSES * ROUNDS;
	struct program_stats	*s = program_stats_new(before, COUNT(before));
	const struct histogram	*h = &n.histograms
				    [PROGRAM_STATS_HISTOGRAM_ANSWER];
	uint64_t		 buckets = 0;
	int			 status;

	program_stats_use(s);
	for (int i = 0; i < PROCESSES; i++)
		if (fork() == 0)
			count_here(i);
	for (int i = 0; i < PROCESSES; i++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	ck_assert(program_stats_read(1, &n));
	ck_assert_uint_eq(n.counters[PROGRAM_STATS_REQUESTS],
	    2 * (uint64_t)all);
	ck_assert_uint_eq(n.counters[PROGRAM_STATS_ANSWERED], 0);
	ck_assert_uint_eq(h->n, (uint64_t)all);
	ck_assert_uint_eq(h->sum, (uint64_t)all * (all - 1) / 2);
	ck_assert_uint_eq(h->max, (uint64_t)all - 1);
	for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
		buckets += h->count[i];
	ck_assert_uint_eq(buckets, (uint64_t)all);
	ck_assert(program_stats_read(0, &n));
	ck_assert_uint_eq(n.counters[PROGRAM_STATS_REQUESTS], 0);
	program_stats_free(&s);
}
END_TEST

static uint64_t
read_requests(struct program_stats *s, size_t program)
{
	program_stats_use(s);
	ck_assert(program_stats_read(program, &n));
	return n.counters[PROGRAM_STATS_REQUESTS];
}

/* Counts are a label's, gauges a manager's. */
START_TEST(goes_on_in_the_next_generation)
{
	struct program_stats	*old = program_stats_new(before, COUNT(before));
	struct program_stats	*new, *last;

	program_stats_use(old);
	program_stats_add(2, PROGRAM_STATS_REQUESTS, 5);
	program_stats_set(2, PROGRAM_STATS_GAUGE_BUSY, 7);
	new = program_stats_new(after, COUNT(after));
	ck_assert_uint_eq(read_requests(new, 0), 5);
	ck_assert_str_eq(n.name, "far");
	ck_assert_uint_eq(n.gauges[PROGRAM_STATS_GAUGE_BUSY], 0);
	ck_assert_uint_eq(read_requests(new, 1), 0);
	ck_assert_str_eq(n.name, "new");
	ck_assert(!program_stats_read(2, &n));
	/* The old one still counts, until it has ended. */
	program_stats_use(old);
	program_stats_add(2, PROGRAM_STATS_REQUESTS, 1);
	program_stats_free(&old);
	ck_assert_ptr_null(old);
	ck_assert_uint_eq(read_requests(new, 0), 6);
	program_stats_free(&new);
	last = program_stats_new(after, COUNT(after));
	ck_assert_uint_eq(read_requests(last, 0), 0);
	program_stats_free(&last);
}
END_TEST

/* Main tells which processes it keeps; the manager takes them for busy ones. */
START_TEST(tells_kept_ones_as_idle)
{
	struct program_stats	*s = program_stats_new(before, COUNT(before));
	const uint32_t		 last = PROGRAM_STATS_SLOTS - 1;

	program_stats_use(s);
	program_stats_set(2, PROGRAM_STATS_GAUGE_BUSY, 2);
	program_stats_set(2, PROGRAM_STATS_GAUGE_IDLE, 4);
	program_stats_keep(2, last, true);
	program_stats_keep(2, last + 1, true);
	ck_assert(program_stats_is_kept(2, last));
	ck_assert(!program_stats_is_kept(2, last + 1));
	ck_assert(!program_stats_is_kept(1, last));
	ck_assert(program_stats_read(2, &n));
	ck_assert_uint_eq(n.gauges[PROGRAM_STATS_GAUGE_BUSY], 1);
	ck_assert_uint_eq(n.gauges[PROGRAM_STATS_GAUGE_IDLE], 5);
	/* The manager may have said meanwhile that fewer are busy. */
	for (uint32_t i = 0; i < 3; i++)
		program_stats_keep(2, i, true);
	ck_assert(program_stats_read(2, &n));
	ck_assert_uint_eq(n.gauges[PROGRAM_STATS_GAUGE_BUSY], 0);
	ck_assert_uint_eq(n.gauges[PROGRAM_STATS_GAUGE_IDLE], 6);
	program_stats_keep(2, last, false);
	ck_assert(!program_stats_is_kept(2, last));
	program_stats_clear(s, 2);
	ck_assert(!program_stats_is_kept(2, 0));
	program_stats_free(&s);
}
END_TEST

/* A manager that outlives a reload sets gauges that both generations read, and
 * longer than the first one is there. */
START_TEST(shares_gauges)
{
	struct program_stats	*old = program_stats_new(before, COUNT(before));
	struct program_stats	*new = program_stats_new(before, COUNT(before));

	program_stats_share(new, 2, old, 2);
	program_stats_use(old);
	program_stats_set(2, PROGRAM_STATS_GAUGE_BUSY, 7);
	program_stats_set(1, PROGRAM_STATS_GAUGE_BUSY, 5);
	program_stats_free(&old);
	program_stats_use(new);
	ck_assert(program_stats_read(2, &n));
	ck_assert_uint_eq(n.gauges[PROGRAM_STATS_GAUGE_BUSY], 7);
	ck_assert(program_stats_read(1, &n));
	ck_assert_uint_eq(n.gauges[PROGRAM_STATS_GAUGE_BUSY], 0);
	program_stats_free(&new);
}
END_TEST

START_TEST(has_servers)
{
	struct program_stats	*s = program_stats_new(before, COUNT(before));
	uint64_t		 gauges[PROGRAM_STATS_SERVER_COUNT];

	program_stats_use(s);
	program_stats_set(2, PROGRAM_STATS_GAUGE_BUSY, 7);
	program_stats_set_server(2, 0, PROGRAM_STATS_SERVER_CONNECTIONS, 3);
	program_stats_set_server(2, 1, PROGRAM_STATS_SERVER_REFUSED_SINCE, 9);
	/* There are none of these. */
	program_stats_set_server(2, 2, PROGRAM_STATS_SERVER_CONNECTIONS, 8);
	program_stats_set_server(1, 0, PROGRAM_STATS_SERVER_CONNECTIONS, 8);
	program_stats_set(3, PROGRAM_STATS_GAUGE_BUSY, 8);
	ck_assert(program_stats_read(2, &n));
	ck_assert_uint_eq(n.nservers, 2);
	ck_assert_uint_eq(n.gauges[PROGRAM_STATS_GAUGE_BUSY], 7);
	ck_assert_str_eq(program_stats_read_server(2, 0, gauges),
	    addresses[0]);
	ck_assert_uint_eq(gauges[PROGRAM_STATS_SERVER_CONNECTIONS], 3);
	ck_assert_uint_eq(gauges[PROGRAM_STATS_SERVER_REFUSED_SINCE], 0);
	ck_assert_str_eq(program_stats_read_server(2, 1, gauges),
	    addresses[1]);
	ck_assert_uint_eq(gauges[PROGRAM_STATS_SERVER_CONNECTIONS], 0);
	ck_assert_uint_eq(gauges[PROGRAM_STATS_SERVER_REFUSED_SINCE], 9);
	program_stats_clear(s, 2);
	ck_assert(program_stats_read(2, &n));
	ck_assert_uint_eq(n.gauges[PROGRAM_STATS_GAUGE_BUSY], 0);
	(void)program_stats_read_server(2, 0, gauges);
	ck_assert_uint_eq(gauges[PROGRAM_STATS_SERVER_CONNECTIONS], 0);
	program_stats_free(&s);
}
END_TEST

/* A directory may have any name; a report has lines of UTF-8. */
START_TEST(has_visible_names)
{
	struct program_stats	*s = program_stats_new(before, COUNT(before));

	program_stats_use(s);
	ck_assert(program_stats_read(1, &n));
	ck_assert_str_eq(n.name, "/srv/\xc3\xa9??");
	program_stats_free(&s);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, without);
	tcase_add_test(tests, counts_of_all_processes);
	tcase_add_test(tests, goes_on_in_the_next_generation);
	tcase_add_test(tests, tells_kept_ones_as_idle);
	tcase_add_test(tests, shares_gauges);
	tcase_add_test(tests, has_servers);
	tcase_add_test(tests, has_visible_names);
}
