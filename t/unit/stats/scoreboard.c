/*
 * Tests of stats/scoreboard: what is counted outlives who has counted it.
 */
#include <sys/wait.h>

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "stats/scoreboard.h"
#include "t/unit/unit.h"

#define ROUNDS	3000
#define MANY	256

static struct stats_part	sum;

static uint64_t
requests(void)
{
	board_sum(&sum);
	return sum.counters[STATS_REQUESTS];
}

/* A main of this part, which counts and ends. */
static void
be_main(int part, unsigned n)
{
	int	status;
	pid_t	pid = fork();

	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		board_use(part);
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

/* Before there is a board a process counts for itself. */
START_TEST(without)
{
	stats[STATS_REQUESTS] = 3;
	stats_gauges[STATS_GAUGE_UPTIME] = 7;
	board_measure(0);
	ck_assert_uint_eq(requests(), 3);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_UPTIME], 7);
	ck_assert_int_eq(board_take(1, 1), BOARD_NONE);
	board_keep(BOARD_NONE, 1);
	board_give(BOARD_NONE, 1);
}
END_TEST

START_TEST(outlives)
{
	const struct histogram	*lag =
				    &sum.histograms[STATS_HISTOGRAM_LOOP_LAG];
	int			 a, b;

	board_open();
	a = board_take(1, 1);
	b = board_take(1, 1);
	ck_assert_int_ne(a, BOARD_NONE);
	ck_assert_int_ne(b, BOARD_NONE);
	ck_assert_int_ne(a, b);
	be_main(a, 10);
	be_main(b, 3);
	ck_assert_uint_eq(requests(), 13);
	board_keep(a, 1);
	ck_assert_uint_eq(requests(), 13);
	be_main(a, 4);
	ck_assert_uint_eq(requests(), 17);
	ck_assert_uint_eq(lag->n, 17);
	ck_assert_uint_eq(lag->sum, 85);
	ck_assert_uint_eq(lag->most, 5);
	ck_assert_uint_eq(lag->count[3], 17);
	board_give(a, 1);
	board_give(b, 1);
	ck_assert_uint_eq(requests(), 17);
	ck_assert_int_eq(board_take(1, 1), a);
	be_main(a, 1);
	ck_assert_uint_eq(requests(), 18);
	stats[STATS_RELOADS]++;		/* the monitor's own */
	board_keep(a, 1);
	board_sum(&sum);
	ck_assert_uint_eq(sum.counters[STATS_RELOADS], 1);
}
END_TEST

/* Adds up as fast as it can, and tells of each time, until nobody listens. */
static void
be_reader(int tell)
{
	uint64_t	before = 0, now;

	signal(SIGPIPE, SIG_IGN);
	do {
		now = requests();
		if (now < before)
			_exit(1);
		before = now;
	} while (write(tell, "", 1) == 1);
	_exit(0);
}

/*
 * Who adds up while the monitor moves numbers, never sees less than before.
 * Neither of the two asks again and again whether the other has done its part:
 * where both have one processor, that took minutes.
 */
START_TEST(never_falls)
{
	int	a, status, ends[2];
	char	told;
	pid_t	pid;

	ck_assert_int_eq(pipe(ends), 0);
	board_open();
	/* Of many the last one: it takes longest to come to. */
	a = board_take(1, MANY) + MANY - 1;
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		close(ends[0]);
		be_reader(ends[1]);
	}
	close(ends[1]);
	board_use(a);
	for (int i = 0; i < ROUNDS; i++) {
		stats[STATS_REQUESTS]++;
		if (read(ends[0], &told, 1) != 1)
			break;
		board_keep(a, 1);
	}
	close(ends[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(requests(), ROUNDS);
}
END_TEST

static void *
be_thread(void *number)
{
	board_use_thread(*(unsigned *)number);
	for (unsigned i = 0; i < ROUNDS; i++) {
		stats_count(STATS_REQUESTS);
		stats_time(STATS_HISTOGRAM_LOOP_LAG, 5);
	}
	return NULL;
}

/* Each thread counts in a part of its own, so nothing is lost, and whoever adds
 * up meanwhile sees no less than before. */
START_TEST(threads)
{
	unsigned	numbers[] = { 1, 2, 3 };
	pthread_t	all[3];
	uint64_t	before = 0, now;
	int		a, b;

	board_open();
	a = board_take(1, 4);
	b = board_take(1, 1);
	ck_assert_int_eq(b, a + 4);
	board_use(a);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&all[i], NULL, be_thread,
		    &numbers[i]), 0);
	do {
		stats_count(STATS_CONNECTIONS);
		now = requests();
		ck_assert_uint_ge(now, before);
		before = now;
	} while (now < 3 * ROUNDS);
	for (int i = 0; i < 3; i++)
		pthread_join(all[i], NULL);
	ck_assert_uint_eq(sum.histograms[STATS_HISTOGRAM_LOOP_LAG].n,
	    3 * ROUNDS);
	/* Cached elsewhere, by whichever thread has looked there. */
	stats_put(STATS_HITS_FILE, 7);
	stats_put(STATS_HITS_FILE, 8);
	board_sum_main(&sum, 4);
	ck_assert_uint_eq(sum.counters[STATS_REQUESTS], 3 * ROUNDS);
	ck_assert_uint_eq(sum.counters[STATS_HITS_FILE], 8);
	ck_assert_uint_gt(sum.counters[STATS_CONNECTIONS], 0);
	board_give(a, 4);
	ck_assert_uint_eq(requests(), 3 * ROUNDS);
	ck_assert_int_eq(board_take(1, 5), b + 1);	/* in a row */
	ck_assert_int_eq(board_take(1, 4), a);
}
END_TEST

/* One for whom no part is left counts, though others do not see it. */
START_TEST(full)
{
	int	part, n = 0;

	board_open();
	while ((part = board_take(1, 1)) != BOARD_NONE)
		n++;
	ck_assert_int_ge(n, 18);	/* 16 that drain, one, one to come */
	board_use(BOARD_NONE);
	stats[STATS_REQUESTS] += 2;
	ck_assert_uint_eq(requests(), 2);
}
END_TEST

START_TEST(gauges)
{
	time_t	now;

	board_open();
	now = time(NULL);
	board_measure(now + 100);
	ck_assert_int_ge(stats_gauges[STATS_GAUGE_UPTIME], 100);
	ck_assert_int_le(stats_gauges[STATS_GAUGE_STARTED], (int64_t)now);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_GENERATION], 1);
	board_conf(2);
	board_measure(now);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_GENERATION], 2);
	ck_assert_int_ge(stats_gauges[STATS_GAUGE_LOADED], (int64_t)now);
}
END_TEST

/* A main of this part, with so many connections. */
static void
have_open(int part, size_t n)
{
	board_use(part);
	stats_gauges[STATS_GAUGE_OPEN] = (int64_t)n;
	stats_gauges[STATS_GAUGE_UPTIME] = 5;
	board_tell_open(n);
	board_join();
}

START_TEST(together)
{
	int	a, b, c, other;

	board_open();
	a = board_take(1, 1);
	b = board_take(1, 1);
	c = board_take(1, 1);
	other = board_take(2, 1);
	have_open(other, 1);
	ck_assert_uint_eq(board_least_open(), SIZE_MAX);
	have_open(a, 10);
	ck_assert_uint_eq(board_least_open(), SIZE_MAX);
	have_open(b, 30);
	ck_assert_uint_eq(board_least_open(), 10);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_WORKERS], 2);
	have_open(c, 20);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_WORKERS], 3);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_OPEN], 60);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_LEAST_OPEN], 10);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_MOST_OPEN], 30);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_UPTIME], 5);
	/* The dead have none, and are not waited for. */
	board_keep(a, 1);
	ck_assert_uint_eq(board_least_open(), 30);
	have_open(c, 20);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_WORKERS], 2);
	ck_assert_int_eq(stats_gauges[STATS_GAUGE_OPEN], 50);
	board_give(b, 1);
	ck_assert_uint_eq(board_least_open(), SIZE_MAX);
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
