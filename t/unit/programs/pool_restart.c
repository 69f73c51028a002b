/*
 * Tests of programs/pool: a restart replaces processes, and no request fails;
 * the numbers of a pool are published.
 */
#include "stats/program_stats.h"
#include "t/unit/programs/exchange.h"

/* Indices in programs. */
enum {
	WIDE, PAIR, ONE, SCRIPT, PROGRAMS
};

static char		 file[64];
static char		*command[] = { file };

#define POOL_OF(i, NAME, n) [i] = { .name = (char []){ NAME },		\
	.number = (i), .protocol = CONF_FASTCGI, .most = (n), .queue = 4, \
	.command = { command, 1 }, .within = WAIT_MS,			\
	.idle = 10 * (int64_t)WAIT_MS }

static struct conf_program programs[PROGRAMS] = {
	POOL_OF(WIDE, "wide", 6),
	POOL_OF(PAIR, "pair", 2),
	POOL_OF(ONE, "one", 1),
	[SCRIPT] = { .name = (char []){ "script" }, .number = SCRIPT,
	    .most = 1, .command = { command, 1 }, .within = WAIT_MS },
};
static const struct conf conf = { .programs = programs,
    .nprograms = PROGRAMS };
static struct program_stats	*numbers;

static void
set_up(void)
{
	struct program_stats_label	labels[PROGRAMS] = { { 0 } };

	for (int i = 0; i < PROGRAMS; i++)
		labels[i].name = programs[i].name;
	numbers = program_stats_new(labels, PROGRAMS);
	program_stats_use(numbers);
	ck_assert_ptr_ne(mkdtemp(directory), NULL);
	snprintf(file, sizeof(file), "%s/application", directory);
	write_file("application", 0755, application);
	start_manager(&conf);
}

static void
tear_down(void)
{
	end_manager();
	program_stats_free(&numbers);
}

static void
restart(uint32_t program)
{
	ck_assert_int_eq(program_message_send_restart(mains, program), 0);
}

static uint64_t
read_gauge(size_t program, enum program_stats_gauge gauge)
{
	struct program_stats_numbers	n;

	ck_assert(program_stats_read(program, &n));
	return n.gauges[gauge];
}

static uint64_t
read_counter(size_t program, enum program_stats_counter counter)
{
	struct program_stats_numbers	n;

	ck_assert(program_stats_read(program, &n));
	return n.counters[counter];
}

static void
await_gauge(size_t program, enum program_stats_gauge gauge, uint64_t wanted)
{
	for (int ms = 0; ms < WAIT_MS; ms++) {
		if (read_gauge(program, gauge) == wanted)
			return;
		poll(NULL, 0, 1);
	}
	ck_abort_msg("gauge %d is %lu", gauge,
	    (unsigned long)read_gauge(program, gauge));
}

static const struct {
	uint32_t	program;
	int		n;		/* processes, all idle */
} idle[] = { { WIDE, 3 }, { WIDE, 6 }, { PAIR, 2 }, { PAIR, 1 }, { ONE, 1 } };

START_TEST(replaces_the_idle)
{
	uint32_t	program = idle[_i].program;
	struct exchange	x[6];
	int		connections[6], pids[6], pid, n = idle[_i].n;

	for (int i = 0; i < n; i++) {
		x[i] = begin_at(program, &pids[i]);
		connections[i] = dup(x[i].connection);
	}
	for (int i = 0; i < n; i++)
		finish(&x[i]);
	await_gauge(program, PROGRAM_STATS_GAUGE_IDLE, (uint64_t)n);
	restart(program);
	for (int i = 0; i < n; i++)
		await_no_process(&connections[i]);
	await_gauge(program, PROGRAM_STATS_GAUGE_OUTDATED, 0);
	await_gauge(program, PROGRAM_STATS_GAUGE_IDLE, (uint64_t)n);
	await_gauge(program, PROGRAM_STATS_GAUGE_PROCESSES, (uint64_t)n);
	for (int i = 0; i < n; i++) {
		x[i] = begin_at(program, &pid);
		for (int k = 0; k < n; k++)
			ck_assert_int_ne(pid, pids[k]);
	}
	for (int i = 0; i < n; i++)
		finish(&x[i]);
	ck_assert_uint_eq(read_counter(program, PROGRAM_STATS_STARTED),
	    2 * (uint64_t)n);
	ck_assert_uint_eq(read_counter(program, PROGRAM_STATS_KILLED), 0);
}
END_TEST

/* A new process has the next request while the old one goes on. */
START_TEST(replaces_the_busy_behind_their_requests)
{
	struct exchange	x;
	int		connection, pid, other;

	x = begin_at(WIDE, &pid);
	connection = dup(x.connection);
	restart(WIDE);
	await_line("notice: wide: restarts: 1 processes are to be replaced\n");
	other = run(WIDE);
	ck_assert_int_ne(other, pid);
	ck_assert_int_eq(run(WIDE), other);
	ck_assert_uint_eq(read_gauge(WIDE, PROGRAM_STATS_GAUGE_OUTDATED), 1);
	await_gauge(WIDE, PROGRAM_STATS_GAUGE_BUSY, 1);
	ask(&x, "$$\n");
	ck_assert_int_eq(await_number(&x), pid);
	finish(&x);
	await_no_process(&connection);
	await_gauge(WIDE, PROGRAM_STATS_GAUGE_OUTDATED, 0);
	await_gauge(WIDE, PROGRAM_STATS_GAUGE_PROCESSES, 1);
	ck_assert_int_eq(run(WIDE), other);
}
END_TEST

/* Where most has no room, the new process comes behind the old one's request,
 * and those that wait get it. */
START_TEST(replaces_the_busy_where_no_other_may_run)
{
	struct exchange	first, second = { 0 };
	int		pid;

	first = begin_at(ONE, &pid);
	second.request = start_texts(ONE, "", "", -1);
	restart(ONE);
	await_line("one: restarts: 1 processes are to be replaced\n");
	ask(&first, "$$\n");
	ck_assert_int_eq(await_number(&first), pid);
	finish(&first);
	second.connection = await_start(second.request);
	ask(&second, "$$\n");
	ck_assert_int_ne(await_number(&second), pid);
	finish(&second);
}
END_TEST

/* A request whose process is starting gets one that has started behind the
 * restart. */
START_TEST(replaces_those_that_start)
{
	struct exchange	x = { .request = start_texts(ONE, "", "", -1) };

	restart(ONE);
	x.connection = await_start(x.request);
	ask(&x, "42\n");
	ck_assert_int_eq(await_number(&x), 42);
	finish(&x);
	await_gauge(ONE, PROGRAM_STATS_GAUGE_OUTDATED, 0);
}
END_TEST

static void
replace_file(const char *text)
{
	ck_assert_int_eq(unlink(file), 0);
	write_file("application", 0755, text);
}

/* The next restart does not wait for the end of the backing off. */
START_TEST(keeps_old_ones_while_none_starts)
{
	struct exchange	x;
	int		connection, pid;

	x = begin_at(PAIR, &pid);
	connection = dup(x.connection);
	finish(&x);
	replace_file("#!/nowhere/interpreter\n");
	restart(PAIR);
	await_line("pair: cannot be started: No such file or directory\n");
	await_line("the next one is started in 1 s\n");
	ck_assert_int_eq(run(PAIR), pid);
	ck_assert_uint_eq(read_gauge(PAIR, PROGRAM_STATS_GAUGE_OUTDATED), 1);
	replace_file(application);
	restart(PAIR);
	await_no_process(&connection);
	ck_assert_int_ne(run(PAIR), pid);
	await_gauge(PAIR, PROGRAM_STATS_GAUGE_OUTDATED, 0);
}
END_TEST

START_TEST(restarts_what_has_no_process)
{
	restart(ONE);
	await_line("one: restarts: 0 processes are to be replaced\n");
	restart(SCRIPT);
	restart(PROGRAMS);
	await_line("main asks for program 4, which the conf does not have\n");
	ck_assert_int_gt(run(ONE), 0);
	ck_assert_uint_eq(read_counter(ONE, PROGRAM_STATS_STARTED), 1);
}
END_TEST

START_TEST(counts_ends_by_a_signal)
{
	struct exchange	x;
	int		pid;

	x = begin_at(ONE, &pid);
	ask(&x, "kill('KILL', $$)\n");
	ck_assert_int_eq(await_status(x.request), SIGKILL);
	await_end(&x.request);
	await_gone(&x);
	await_gauge(ONE, PROGRAM_STATS_GAUGE_PROCESSES, 0);
	ck_assert_uint_eq(read_counter(ONE, PROGRAM_STATS_KILLED), 1);
	/* One that main has given up is ended by the manager. */
	x = begin_at(ONE, &pid);
	io_close(&x.request);
	await_gone(&x);
	await_gauge(ONE, PROGRAM_STATS_GAUGE_PROCESSES, 0);
	ck_assert_uint_eq(read_counter(ONE, PROGRAM_STATS_KILLED), 1);
}
END_TEST

/* Its main has said that it only keeps the connection, and dies. */
START_TEST(goes_on_if_no_request_does)
{
	int		pid, other;
	struct exchange	x = begin_at(ONE, &pid);

	await_gauge(ONE, PROGRAM_STATS_GAUGE_BUSY, 1);
	program_stats_keep(ONE, 0, true);
	await_gauge(ONE, PROGRAM_STATS_GAUGE_BUSY, 0);
	await_gauge(ONE, PROGRAM_STATS_GAUGE_IDLE, 1);
	io_close(&x.request);
	close_exchange(&x);
	x = begin_at(ONE, &other);
	ck_assert_int_eq(other, pid);
	/* The manager has noted that nobody keeps it any more. */
	await_gauge(ONE, PROGRAM_STATS_GAUGE_BUSY, 1);
	finish(&x);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, replaces_the_idle, 0,
	    (int)(sizeof(idle) / sizeof(idle[0])));
	tcase_add_test(tests, replaces_the_busy_behind_their_requests);
	tcase_add_test(tests, replaces_the_busy_where_no_other_may_run);
	tcase_add_test(tests, replaces_those_that_start);
	tcase_add_test(tests, keeps_old_ones_while_none_starts);
	tcase_add_test(tests, restarts_what_has_no_process);
	tcase_add_test(tests, counts_ends_by_a_signal);
	tcase_add_test(tests, goes_on_if_no_request_does);
}
