/*
 * Tests of programs/application: a filter has the connection of a process of
 * another program, which goes on if its answer has ended.
 */
#include <errno.h>
#include <sysexits.h>

#include "stats/program_stats.h"
#include "t/unit/programs/exchange.h"

/* Indices in programs. */
enum {
	APPLICATION, FILTER, NARROW, OF_NARROW, WITH_PLACE, OF_PLACE,
	BROKEN, OF_BROKEN, PROGRAMS
};

/* It sends each line to its application, and writes the answer, or does what
 * the line says. */
static const char	filter[] =
    "#!/usr/bin/env perl\n"
    "use IO::Handle;\n"
    "open(my $c, '+<&=', 3) or exit(9);\n"
    "$c->blocking(1);\n"
    "STDOUT->autoflush(1);\n"
    "while (defined(my $line = <STDIN>)) {\n"
    "	exit($1) if $line =~ /^exit (\\d+)/;\n"
    "	if ($line =~ /^kill (\\w+)/) {\n"
    "		kill($1, $$);\n"
    "		sleep(1) while 1;\n"
    "	}\n"
    "	syswrite($c, $line);\n"
    "	print scalar(<$c>) // '';\n"
    "}\n";

static char		 file[64], filter_file[64];
static char		*command[] = { file, directory, directory };
static char		*filter_command[] = { filter_file };
static char		*broken_command[] = { (char []){ "/no/program" } };

#define APPLICATION_OF(i, NAME, n, waits, ...) [i] = {			\
	.name = (char []){ NAME }, .number = (i), .place = (i),		\
	.protocol = CONF_FASTCGI, .most = (n), .queue = (waits),	\
	.command = { __VA_ARGS__ }, .within = WAIT_MS,			\
	.idle = 10 * (int64_t)WAIT_MS }
#define FILTER_OF(i, NAME, of) [i] = {					\
	.name = (char []){ NAME }, .number = (i), .place = (i),		\
	.is_filter = true, .application = &programs[of], .queue = 4,	\
	.command = { filter_command, 1 }, .within = WAIT_MS,		\
	.result = 1000000 }

static struct conf_program programs[PROGRAMS] = {
	APPLICATION_OF(APPLICATION, "application", 2, 4, command, 1),
	FILTER_OF(FILTER, "filter", APPLICATION),
	APPLICATION_OF(NARROW, "narrow", 1, 0, command, 1),
	FILTER_OF(OF_NARROW, "of-narrow", NARROW),
	APPLICATION_OF(WITH_PLACE, "with-place", 1, 4, command, 3),
	FILTER_OF(OF_PLACE, "of-place", WITH_PLACE),
	APPLICATION_OF(BROKEN, "broken", 1, 4, broken_command, 1),
	FILTER_OF(OF_BROKEN, "of-broken", BROKEN),
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
	snprintf(filter_file, sizeof(filter_file), "%s/filter", directory);
	write_file("application", 0755, application);
	write_file("filter", 0755, filter);
	programs[BROKEN].within = programs[OF_BROKEN].within = 500;
	start_manager(&conf);
}

static void
tear_down(void)
{
	end_manager();
	program_stats_free(&numbers);
}

static uint64_t
read_counter(size_t program, enum program_stats_counter counter)
{
	struct program_stats_numbers	n;

	ck_assert(program_stats_read(program, &n));
	return n.counters[counter];
}

static void
await_waiting(size_t program, uint64_t n)
{
	struct program_stats_numbers	now;

	for (int ms = 0; ms < WAIT_MS; ms++) {
		ck_assert(program_stats_read(program, &now));
		if (now.gauges[PROGRAM_STATS_GAUGE_QUEUED] == n)
			return;
		poll(NULL, 0, 1);
	}
	ck_abort_msg("%u do not wait", (unsigned)n);
}

/* Begins a run over a file of that text. */
static int
begin_run(uint32_t program, const char *text)
{
	char	name[] = "/tmp/amped-input.XXXXXX";
	int	fd = mkstemp(name), request;

	ck_assert_int_ne(fd, -1);
	unlink(name);
	ck_assert_int_eq(io_write_all(fd, text, strlen(text)), 0);
	ck_assert_int_eq((int)lseek(fd, 0, SEEK_SET), 0);
	request = start_texts(program, "", "QUERY_STRING=|", fd);
	close(fd);
	return request;
}

/* The number that a run has written, and its status. */
static int
end_run(int request, int *status)
{
	int	result = await_start(request);
	char	text[40] = "";

	*status = await_status(request);
	ck_assert_int_ge((int)pread(result, text, sizeof(text) - 1, 0), 0);
	close(result);
	close(request);
	return atoi(text);
}

/* A run that ends well; returns the id of the application's process. */
static int
run_filter(void)
{
	int	status, pid = end_run(begin_run(FILTER, "$$\n"), &status);

	ck_assert_int_eq(status, 0);
	ck_assert_int_gt(pid, 0);
	return pid;
}

static const struct {
	const char	*text;
	int		 status;	/* as of waitpid(2) */
	bool		 stays;		/* the application's process does */
} ends[] = {
	{ "$$\n", 0, true },
	{ "$$\nexit 65\n", EX_DATAERR << 8, true },
	{ "$$\nkill XFSZ\n", SIGXFSZ, true },
	{ "$$\nexit 76\n", EX_PROTOCOL << 8, false },
	{ "$$\nexit 1\n", 1 << 8, false },
	{ "$$\nkill KILL\n", SIGKILL, false },
};

START_TEST(process_goes_on_behind_an_answer)
{
	int	pid = run_filter(), status;

	ck_assert_int_eq(run_filter(), pid);
	ck_assert_int_eq(end_run(begin_run(FILTER, ends[_i].text), &status),
	    pid);
	ck_assert_int_eq(status, ends[_i].status);
	ck_assert_int_eq(run_filter() == pid, ends[_i].stays);
	ck_assert_uint_eq(read_counter(APPLICATION, PROGRAM_STATS_REQUESTS),
	    4);
	ck_assert_uint_eq(read_counter(APPLICATION, PROGRAM_STATS_ANSWERED),
	    ends[_i].status == 0 ? 4 : 3);
	ck_assert_uint_eq(read_counter(APPLICATION, PROGRAM_STATS_FAILED),
	    ends[_i].status != 0);
}
END_TEST

/* A request has the only place: no run, and none waits. */
START_TEST(places_are_the_application_s)
{
	struct program_report	report;
	struct exchange		x;
	int			pid, request, status;

	x = begin_at(NARROW, &pid);
	request = begin_run(OF_NARROW, "$$\n");
	await_report(request, PROGRAM_BUSY, &report);
	await_end(&request);
	finish(&x);
	ck_assert_int_eq(end_run(begin_run(OF_NARROW, "$$\n"), &status), pid);
	ck_assert_uint_eq(read_counter(NARROW, PROGRAM_STATS_REFUSED), 1);
}
END_TEST

/* Main leaves a run that waits for a place: the next one has the place. */
START_TEST(a_run_that_waits_can_be_left)
{
	struct exchange	x[2];
	int		pids[2], requests[2], status, pid;

	for (int i = 0; i < 2; i++)
		x[i] = begin_at(APPLICATION, &pids[i]);
	for (int i = 0; i < 2; i++)
		requests[i] = begin_run(FILTER, "$$\n");
	await_waiting(FILTER, 2);
	await_waiting(APPLICATION, 2);
	io_close(&requests[0]);
	await_waiting(APPLICATION, 1);
	finish(&x[0]);
	pid = end_run(requests[1], &status);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(pid, pids[0]);
	finish(&x[1]);
}
END_TEST

/* Main leaves a run: what the application's process does is unknown. */
START_TEST(a_run_that_is_left_ends_the_process)
{
	int	pid = run_filter(), request, result;

	request = begin_run(FILTER, "sleep(100)\n");
	result = await_start(request);
	io_close(&request);
	close(result);
	while (kill(pid, 0) == 0)
		poll(NULL, 0, 1);
	ck_assert_int_ne(run_filter(), pid);
}
END_TEST

/* Requests may have an outdated process, but no filter may. */
START_TEST(no_outdated_process)
{
	struct program_report	report;
	struct exchange		x;
	int			pid = run_filter(), other, status;

	x = begin_at(APPLICATION, &other);
	ck_assert_int_eq(other, pid);
	ck_assert_int_eq(program_message_send_restart(mains, APPLICATION), 0);
	await_line("notice: application: restarts: 1 processes are to be "
	    "replaced\n");
	other = end_run(begin_run(FILTER, "$$\n"), &status);
	ck_assert_int_eq(status, 0);
	ck_assert_int_ne(other, pid);
	await_report(x.request, PROGRAM_RECALL, &report);
	finish(&x);
	ck_assert_int_eq(run_filter(), other);
}
END_TEST

/* Other bytes in the place of the application's file. */
START_TEST(replaced_file)
{
	char	name[80], text[sizeof(application) + 30];
	int	pid = run_filter(), other;

	snprintf(text, sizeof(text), "%s# another version\n", application);
	write_file("new", 0755, text);
	snprintf(name, sizeof(name), "%s/new", directory);
	ck_assert_int_eq(rename(name, file), 0);
	other = run_filter();
	ck_assert_int_ne(other, pid);
	await_line("notice: application: its file is another one\n");
	ck_assert_int_eq(run_filter(), other);
	/* A file that is not there says nothing about the process. */
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(run_filter(), other);
}
END_TEST

/* A directory, where a program puts its files, is none of its own. */
START_TEST(directory_that_changes)
{
	int	status, pid;

	pid = end_run(begin_run(OF_PLACE, "$$\n"), &status);
	ck_assert_int_eq(status, 0);
	write_file("made", 0644, "");
	ck_assert_int_eq(end_run(begin_run(OF_PLACE, "$$\n"), &status), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* That none can be started is a failure, not a lack of places. */
START_TEST(no_process_of_the_application)
{
	struct program_report	report;
	int			request;

	request = begin_run(OF_BROKEN, "$$\n");
	await_report(request, PROGRAM_FAILED, &report);
	ck_assert_int_eq(report.error, ENOENT);
	await_end(&request);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, process_goes_on_behind_an_answer, 0,
	    sizeof(ends) / sizeof(ends[0]));
	tcase_add_test(tests, places_are_the_application_s);
	tcase_add_test(tests, a_run_that_waits_can_be_left);
	tcase_add_test(tests, a_run_that_is_left_ends_the_process);
	tcase_add_test(tests, no_outdated_process);
	tcase_add_test(tests, replaced_file);
	tcase_add_test(tests, directory_that_changes);
	tcase_add_test(tests, no_process_of_the_application);
}
