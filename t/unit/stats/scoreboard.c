/* Tests of stats/scoreboard: counts outlive their process. */
#include <sys/wait.h>

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "stats/scoreboard.h"
#include "t/unit/unit.h"

#define ROUNDS	3000
#define MANY	256

static struct stats_slot	sum;

static uint64_t
count_requests(void)
{
	scoreboard_sum(&sum);
	return sum.counters[STATS_REQUESTS];
}

/* Runs a main that counts in a slot and ends. */
static void
run_main(int part, unsigned n)
{
	int	status;
	pid_t	pid = fork();

	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		scoreboard_attach(part);
		while (n-- > 0) {
			stats[STATS_REQUESTS]++;
			histogram_add(&stats_histograms
			    [STATS_HISTOGRAM_LOOP_LAG], 5);
		}
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* Without a scoreboard a process counts for itself. */
START_TEST(without)
{
	stats[STATS_REQUESTS] = 3;
	stats_gauges[STATS_GAUGE_UPTIME] = 7;
	scoreboard_measure(0);
	ck_assert_uint_eq(count_requests(), 3);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_UPTIME], 7);
	ck_assert_int_eq(scoreboard_alloc(1, 1), SCOREBOARD_NONE);
	scoreboard_retire(SCOREBOARD_NONE, 1);
	scoreboard_free(SCOREBOARD_NONE, 1);
}
END_TEST

START_TEST(outlives)
{
	const struct histogram	*lag =
				    &sum.histograms[STATS_HISTOGRAM_LOOP_LAG];
	int			 a, b;

	scoreboard_open();
	a = scoreboard_alloc(1, 1);
	b = scoreboard_alloc(1, 1);
	ck_assert_int_ne(a, SCOREBOARD_NONE);
	ck_assert_int_ne(b, SCOREBOARD_NONE);
	ck_assert_int_ne(a, b);
	run_main(a, 10);
	run_main(b, 3);
	ck_assert_uint_eq(count_requests(), 13);
	scoreboard_retire(a, 1);
	ck_assert_uint_eq(count_requests(), 13);
	run_main(a, 4);
	ck_assert_uint_eq(count_requests(), 17);
	ck_assert_uint_eq(lag->n, 17);
	ck_assert_uint_eq(lag->sum, 85);
	ck_assert_uint_eq(lag->max, 5);
	ck_assert_uint_eq(lag->count[3], 17);
	scoreboard_free(a, 1);
	scoreboard_free(b, 1);
	ck_assert_uint_eq(count_requests(), 17);
	ck_assert_int_eq(scoreboard_alloc(1, 1), a);
	run_main(a, 1);
	ck_assert_uint_eq(count_requests(), 18);
	stats[STATS_RELOADS]++;		/* of the monitor */
	scoreboard_retire(a, 1);
	scoreboard_sum(&sum);
	ck_assert_uint_eq(sum.counters[STATS_RELOADS], 1);
}
END_TEST

/* Adds up in a loop and writes each sum, until nobody reads. */
static void
run_reader(int tell)
{
	uint64_t	before = 0, now;

	signal(SIGPIPE, SIG_IGN);
	do {
		now = count_requests();
		if (now < before)
			_exit(1);
		before = now;
	} while (write(tell, "", 1) == 1);
	_exit(0);
}

/* A reader never sees a sum fall while the monitor retires slots.  The
 * processes do not poll each other: with one processor for both that takes
 * minutes. */
START_TEST(never_falls)
{
	int	a, status, ends[2];
	char	told;
	pid_t	pid;

	ck_assert_int_eq(pipe(ends), 0);
	scoreboard_open();
	/* The last slot of many: a reader needs longest to reach it. */
	a = scoreboard_alloc(1, MANY) + MANY - 1;
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		close(ends[0]);
		run_reader(ends[1]);
	}
	close(ends[1]);
	scoreboard_attach(a);
	for (int i = 0; i < ROUNDS; i++) {
		stats[STATS_REQUESTS]++;
		if (read(ends[0], &told, 1) != 1)
			break;
		scoreboard_retire(a, 1);
	}
	close(ends[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(count_requests(), ROUNDS);
}
END_TEST

static void *
run_thread(void *number)
{
	scoreboard_attach_thread(*(unsigned *)number);
	for (unsigned i = 0; i < ROUNDS; i++) {
		stats_count(STATS_REQUESTS);
		stats_time(STATS_HISTOGRAM_LOOP_LAG, 5);
	}
	return NULL;
}

/* Each thread counts in a slot of its own, so no count is lost, and a reader
 * meanwhile sees no sum fall. */
START_TEST(threads)
{
	unsigned	numbers[] = { 1, 2, 3 };
	pthread_t	all[3];
	uint64_t	before = 0, now;
	int		a, b;

	scoreboard_open();
	a = scoreboard_alloc(1, 4);
	b = scoreboard_alloc(1, 1);
	ck_assert_int_eq(b, a + 4);
	scoreboard_attach(a);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&all[i], NULL, run_thread,
		    &numbers[i]), 0);
	do {
		stats_count(STATS_CONNECTIONS);
		now = count_requests();
		ck_assert_uint_ge(now, before);
		before = now;
	} while (now < 3 * ROUNDS);
	for (int i = 0; i < 3; i++)
		pthread_join(all[i], NULL);
	ck_assert_uint_eq(sum.histograms[STATS_HISTOGRAM_LOOP_LAG].n,
	    3 * ROUNDS);
	/* A counter that is counted elsewhere, set by any thread. */
	stats_set(STATS_HITS_FILE, 7);
	stats_set(STATS_HITS_FILE, 8);
	scoreboard_sum_main(&sum, 4);
	ck_assert_uint_eq(sum.counters[STATS_REQUESTS], 3 * ROUNDS);
	ck_assert_uint_eq(sum.counters[STATS_HITS_FILE], 8);
	ck_assert_uint_gt(sum.counters[STATS_CONNECTIONS], 0);
	scoreboard_free(a, 4);
	ck_assert_uint_eq(count_requests(), 3 * ROUNDS);
	ck_assert_int_eq(scoreboard_alloc(1, 5), b + 1);	/* in a row */
	ck_assert_int_eq(scoreboard_alloc(1, 4), a);
}
END_TEST

/* A main without a slot counts for itself alone. */
START_TEST(full)
{
	int	part, n = 0;

	scoreboard_open();
	while ((part = scoreboard_alloc(1, 1)) != SCOREBOARD_NONE)
		n++;
	ck_assert_int_ge(n, 18);	/* 16 that drain, one, one to come */
	scoreboard_attach(SCOREBOARD_NONE);
	stats[STATS_REQUESTS] += 2;
	ck_assert_uint_eq(count_requests(), 2);
}
END_TEST

START_TEST(gauges)
{
	time_t	now;

	scoreboard_open();
	now = time(NULL);
	scoreboard_measure(now + 100);
	ck_assert_int_ge(stats_gauges[STATS_GAUGE_UPTIME], 100);
	ck_assert_int_le(stats_gauges[STATS_GAUGE_STARTED], (int64_t)now);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_GENERATION], 1);
	scoreboard_set_conf(2);
	scoreboard_measure(now);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_GENERATION], 2);
	ck_assert_int_ge(stats_gauges[STATS_GAUGE_LOADED], (int64_t)now);
}
END_TEST

/* Runs a main in a slot, with so many connections. */
static void
publish_open(int part, size_t n)
{
	scoreboard_attach(part);
	stats_gauges[STATS_GAUGE_OPEN] = (int64_t)n;
	stats_gauges[STATS_GAUGE_UPTIME] = 5;
	scoreboard_publish_open(n);
	scoreboard_merge();
}

START_TEST(together)
{
	int	a, b, c, other;

	scoreboard_open();
	a = scoreboard_alloc(1, 1);
	b = scoreboard_alloc(1, 1);
	c = scoreboard_alloc(1, 1);
	other = scoreboard_alloc(2, 1);
	publish_open(other, 1);
	ck_assert_uint_eq(scoreboard_min_open(), SIZE_MAX);
	publish_open(a, 10);
	ck_assert_uint_eq(scoreboard_min_open(), SIZE_MAX);
	publish_open(b, 30);
	ck_assert_uint_eq(scoreboard_min_open(), 10);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_WORKERS], 2);
	publish_open(c, 20);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_WORKERS], 3);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_OPEN], 60);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_OPEN_MIN], 10);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_OPEN_MAX], 30);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_UPTIME], 5);
	/* A dead main has none, and does not count. */
	scoreboard_retire(a, 1);
	ck_assert_uint_eq(scoreboard_min_open(), 30);
	publish_open(c, 20);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_WORKERS], 2);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_OPEN], 50);
	scoreboard_free(b, 1);
	ck_assert_uint_eq(scoreboard_min_open(), SIZE_MAX);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_test(t, without);
	tcase_add_test(t, outlives);
	tcase_add_test(t, never_falls);
	tcase_add_test(t, threads);
	tcase_add_test(t, full);
	tcase_add_test(t, gauges);
	tcase_add_test(t, together);
}
