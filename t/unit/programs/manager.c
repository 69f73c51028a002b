/*
 * Tests of programs/manager: the test is main, over sockets, and the programs
 * are what /bin/sh finds in QUERY_STRING.
 *
 * All processes of a program have its output, so its end shows that none is
 * left.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t/unit/programs/mains.h"

/* Indices in programs. */
enum { SHELL, DIRECTORY, ONE, SHORT, LIMITED, MISSING, UNREADABLE, PROGRAMS };

static char		*shell[] = { (char []){ "/bin/sh" }, (char []){ "-c" },
	(char []){ "eval \"$QUERY_STRING\"" } };
static char		*missing[] = { (char []){ "/nowhere/program" } };
static char		*unreadable[] = { directory };
static struct conf_pair	 pairs[] = {
	{ .name = (char []){ "OWN" }, .value = (char []){ "own value" } },
};
static struct conf_program programs[PROGRAMS] = {
	[SHELL] = { .name = (char []){ "shell" }, .command = { shell, 3 },
	    .most = 4, .queue = 10, .within = WAIT_MS },
	[DIRECTORY] = { .directory = directory, .most = 4, .queue = 10,
	    .within = WAIT_MS },
	[ONE] = { .name = (char []){ "one" }, .command = { shell, 3 },
	    .most = 1, .queue = 1, .within = WAIT_MS },
	[SHORT] = { .name = (char []){ "short" }, .command = { shell, 3 },
	    .most = 1, .queue = 1, .within = 20 },
	[LIMITED] = { .name = (char []){ "limited" }, .command = { shell, 3 },
	    .variables = { pairs, 1 }, .queue = 10, .within = WAIT_MS,
	    .nice = 7, .files = 33, .memory = 1 << 30, .cpu = 1500,
	    .processes = 1000 },
	[MISSING] = { .name = (char []){ "missing" },
	    .command = { missing, 1 }, .queue = 10, .within = WAIT_MS },
	[UNREADABLE] = { .name = (char []){ "unreadable" },
	    .command = { unreadable, 1 }, .queue = 10,
	    .within = WAIT_MS },
};
static struct conf_run	 runs[] = {
	{ &programs[SHELL], "*.sh" }, { &programs[DIRECTORY], NULL }
};
static struct conf_site	 sites[] = {
	{ .rules.root = directory, .rules.run = { .list = runs, .n = 2 } }
};
static const struct conf conf = { .sites = sites, .nsites = 1,
    .programs = programs, .nprograms = PROGRAMS };

/*
 * Set up
 */

static void
make_directory(void)
{
	char	path[200];

	ck_assert_ptr_ne(mkdtemp(directory), NULL);
	snprintf(path, sizeof(path), "%s/sub", directory);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	write_file("sub/script", 0755, "#!/bin/sh\n"
	    "pwd; echo \"$0 $# $SCRIPT_FILENAME\"\n");
	write_file("plain", 0644, "#!/bin/sh\n");
	write_file("lost", 0755, "#!/nowhere/interpreter\n");
	snprintf(path, sizeof(path), "%s/out", directory);
	ck_assert_int_eq(symlink("/bin/true", path), 0);
}

static void
set_up(void)
{
	make_directory();
	for (int i = 0; i < PROGRAMS; i++)
		programs[i].confine = CONFINEMENT_BASIC;
	start_manager(&conf);
}

static void
tear_down(void)
{
	end_manager();
}

/*
 * Main
 */

/* Bars of a script are pipes: it has none. */
static int
start_shell(uint32_t program, const char *script, int body)
{
	char	texts[4000];

	snprintf(texts, sizeof(texts), "QUERY_STRING=%s|", script);
	return start_texts(program, "", texts, body);
}

/* Runs a program to its end, and compares what it wrote. */
static void
check_output(uint32_t program, const char *script, const char *expected)
{
	struct buf	text = { 0 };
	int		request = start_shell(program, script, -1);
	int		output = await_start(request);

	ck_assert_str_eq(read_output(output, NULL, &text), expected);
	ck_assert_int_eq(await_status(request), 0);
	await_end(&request);
	io_close(&output);
	buf_free(&text);
}

/* Starts a program, and waits until it has written "ready". */
static int
await_ready(uint32_t program, const char *script, int *request)
{
	struct buf	text = { 0 };
	int		output;

	*request = start_shell(program, script, -1);
	output = await_start(*request);
	(void)read_output(output, "ready\n", &text);
	buf_free(&text);
	return output;
}

/*
 * What a program has
 */

static const struct {
	uint32_t	 program;
	const char	*script, *output;
} outputs[] = {
	{ SHELL, "echo hello", "hello\n" },
	{ SHELL, "cat", "" },			/* of /dev/null */
	{ SHELL, "echo $PATH:$OWN$HOME$USER", "/usr/local/bin:/usr/bin:/bin:\n" },
	{ SHELL, "[ . -ef /bin ] && echo there", "there\n" },
	{ SHELL, "umask", "0022\n" },
	{ SHELL, "for n in 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do "
	    "[ -e /proc/$$/fd/$n ] && echo $n; done; echo none", "none\n" },
	{ SHELL, "read a b c d group rest < /proc/$$/stat; "
	    "[ $group = $$ ] && echo leads", "leads\n" },
	{ SHELL, "grep NoNewPrivs /proc/self/status", "NoNewPrivs:\t1\n" },
	{ SHELL, "grep SigIgn /proc/$$/status",
	    "SigIgn:\t0000000000000000\n" },
	{ SHELL, "grep SigBlk /proc/self/status",
	    "SigBlk:\t0000000000000000\n" },
	{ SHELL, "ulimit -c", "0\n" },
	{ LIMITED, "echo $OWN", "own value\n" },
	{ LIMITED, "nice; ulimit -n; ulimit -v; ulimit -t; ulimit -Ht",
	    "7\n33\n1048576\n2\n3\n" },
};

START_TEST(gives_a_program_its_own)
{
	check_output(outputs[_i].program, outputs[_i].script,
	    outputs[_i].output);
}
END_TEST

START_TEST(passes_a_body)
{
	struct buf	text = { 0 };
	FILE		*file = tmpfile();
	int		request, output;

	fputs("the body\n", file);
	rewind(file);
	request = start_shell(SHELL, "cat", fileno(file));
	output = await_start(request);
	ck_assert_str_eq(read_output(output, NULL, &text), "the body\n");
	ck_assert_int_eq(await_status(request), 0);
	io_close(&request);
	io_close(&output);
	/* Main may have other descriptors than of bodies. */
	request = start_shell(SHELL, "cat", mains);
	ck_assert_int_eq(await_error(request), EBADMSG);
	io_close(&request);
	fclose(file);
	buf_free(&text);
}
END_TEST

/* A body that comes while the program runs: main gets the pipe first, and the
 * program reads all of it and its end. */
START_TEST(passes_a_pipe)
{
	struct program_report	report;
	struct buf		text = { 0 };
	int			request, output, input;

	request = send_texts(SHELL, "", "QUERY_STRING=cat|",
	    PROGRAM_BODY_PIPE);
	input = await_report(request, PROGRAM_INPUT, &report);
	output = await_start(request);
	ck_assert_int_eq(write(input, "one\n", 4), 4);
	(void)read_output(output, "one\n", &text);
	ck_assert_int_eq(write(input, "two\n", 4), 4);
	close(input);
	text.len = 0;
	ck_assert_str_eq(read_output(output, NULL, &text), "two\n");
	ck_assert_int_eq(await_status(request), 0);
	io_close(&request);
	io_close(&output);
	buf_free(&text);
}
END_TEST

/* A file that cannot be executed has no pipe. */
START_TEST(passes_no_pipe_to_nothing)
{
	int	request = send_texts(DIRECTORY, "nothing", "",
		    PROGRAM_BODY_PIPE);

	ck_assert_int_eq(await_error(request), ENOENT);
	io_close(&request);
}
END_TEST

static const struct {
	const char	*file;
	int		 error;
} files[] = {
	{ "sub/script", 0 },
	{ "sub/../sub/script", 0 },
	{ "nothing", ENOENT },
	{ "plain/x", ENOTDIR },
	{ "plain", EACCES },
	{ "sub", EACCES },
	{ "out", EACCES },
	{ "../../bin/true", EACCES },
	{ "/bin/true", EBADMSG },
	{ "", EBADMSG },
	{ "lost", ENOEXEC },
};

START_TEST(runs_files_of_a_directory)
{
	struct buf	text = { 0 };
	char		expected[500];
	int		request, output;

	request = start_texts(DIRECTORY, files[_i].file, "", -1);
	if (files[_i].error != 0) {
		ck_assert_int_eq(await_error(request), files[_i].error);
		io_close(&request);
		return;
	}
	output = await_start(request);
	snprintf(expected, sizeof(expected), "%s/sub\n%s/%s 0 %s/%s\n",
	    directory, directory, files[_i].file, directory, files[_i].file);
	ck_assert_str_eq(read_output(output, NULL, &text), expected);
	io_close(&request);
	io_close(&output);
	buf_free(&text);
}
END_TEST

START_TEST(enters_the_directory_of_a_script)
{
	struct buf	text = { 0 };
	char		texts[500], expected[300];
	int		request, output;

	snprintf(texts, sizeof(texts), "QUERY_STRING=pwd|"
	    "SCRIPT_FILENAME=%s/sub/x.php|", directory);
	request = start_texts(SHELL, "", texts, -1);
	output = await_start(request);
	snprintf(expected, sizeof(expected), "%s/sub\n", directory);
	ck_assert_str_eq(read_output(output, NULL, &text), expected);
	io_close(&request);
	io_close(&output);
	buf_free(&text);
	request = start_texts(SHELL, "", "SCRIPT_FILENAME=/etc/passwd|", -1);
	ck_assert_int_eq(await_error(request), EACCES);
	io_close(&request);
}
END_TEST

START_TEST(tells_why_none_starts)
{
	int	request = start_shell(MISSING, "", -1);

	ck_assert_int_eq(await_error(request), ENOENT);
	await_end(&request);
	await_line("missing: cannot be started: No such file or directory\n");
	request = start_shell(UNREADABLE, "", -1);
	ck_assert_int_eq(await_error(request), EACCES);
	await_end(&request);
	await_line("unreadable: cannot be started: Permission denied\n");
	request = start_shell(PROGRAMS, "", -1);
	await_end(&request);
	await_line("asks for program 7, which");
	ck_assert_int_eq(send(mains, "junk", 4, MSG_NOSIGNAL), 4);
	await_line("sends what is no request");
	check_output(SHELL, "echo still here", "still here\n");
}
END_TEST

/*
 * Its end
 */

START_TEST(tells_how_it_ended)
{
	int	request, output, status;

	request = start_shell(SHELL, "exit 3", -1);
	output = await_start(request);
	ck_assert_int_eq(WEXITSTATUS(await_status(request)), 3);
	io_close(&request);
	io_close(&output);
	await_line("]: ended with status 3\n");
	request = start_shell(SHELL, "kill -s PIPE $$; echo alive", -1);
	output = await_start(request);
	status = await_status(request);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
	await_no_process(&output);
	io_close(&request);
	await_line("]: was killed by signal 13");
}
END_TEST

/* Behind each the program is given up. */
static const char *const trees[] = {
	"echo ready; exec sleep 1000",
	"sleep 1000 & echo ready; wait",
	/* Ignores SIGTERM, and so do its children. */
	"trap '' TERM; echo ready; while :; do sleep 1000; done",
	/* A daemon. */
	("setsid sh -c '(setsid sh -c \"echo ready; exec sleep 1000\") &'; "
	    "exec sleep 1000"),
	"echo ready; kill -s STOP $$; exec sleep 1000",
};

START_TEST(ends_all_that_it_has_started)
{
	int	request, output;

	output = await_ready(SHELL, trees[_i], &request);
	io_close(&request);
	await_no_process(&output);
	check_output(SHELL, "echo next", "next\n");
}
END_TEST

/* The program has ended. */
static const char *const remains[] = {
	"sleep 1000 & echo ready",
	"setsid sh -c '(setsid sleep 1000 &) ; exit'; echo ready",
};

START_TEST(ends_what_it_has_left)
{
	int	request, output;

	output = await_ready(SHELL, remains[_i], &request);
	ck_assert_int_eq(await_status(request), 0);
	io_close(&request);
	await_no_process(&output);
}
END_TEST

/*
 * Reapers
 */

/* The reaper of a program that runs to its end. */
static pid_t
find_reaper(void)
{
	struct buf	text = { 0 };
	int		request = start_shell(SHELL, "echo $PPID", -1);
	int		output = await_start(request);
	pid_t		reaper = (pid_t)atol(read_output(output, NULL, &text));

	ck_assert_int_eq(await_status(request), 0);
	await_end(&request);
	io_close(&output);
	buf_free(&text);
	ck_assert_int_gt(reaper, 1);
	return reaper;
}

START_TEST(uses_a_reaper_again)
{
	pid_t	reaper = find_reaper();
	int	request, output;

	ck_assert_int_eq(find_reaper(), reaper);
	output = await_ready(SHELL, trees[0], &request);
	ck_assert_int_ne(find_reaper(), reaper);
	io_close(&request);
	await_no_process(&output);
}
END_TEST

START_TEST(starts_another_reaper)
{
	pid_t	reaper = find_reaper();

	ck_assert_int_eq(kill(reaper, SIGKILL), 0);
	while (kill(reaper, 0) == 0)
		sched_yield();
	ck_assert_int_ne(find_reaper(), reaper);
}
END_TEST

#ifdef __linux__
/* A daemon comes to the manager when its reaper is killed; a process of the
 * same program that has another reaper goes on. */
START_TEST(ends_what_a_dead_reaper_leaves)
{
	struct buf	text = { 0 };
	int		requests[2], out[2];
	pid_t		reaper;

	out[1] = await_ready(SHELL, trees[0], &requests[1]);
	requests[0] = start_shell(SHELL, "(setsid sleep 1000 &)\n"
	    "(setsid sh -c 'trap \"\" TERM; (sleep 1000 &); sleep 1000' &)\n"
	    "echo $PPID; exec sleep 1000", -1);
	out[0] = await_start(requests[0]);
	reaper = (pid_t)atol(read_output(out[0], "\n", &text));
	buf_free(&text);
	ck_assert_int_gt(reaper, 1);
	ck_assert_int_eq(kill(reaper, SIGKILL), 0);
	await_no_process(&out[0]);
	ck_assert_int_gt(find_reaper(), 1);
	ck_assert_int_eq(poll(&(struct pollfd){ .fd = out[1] }, 1, 0), 0);
	for (int i = 0; i < 2; i++)
		io_close(&requests[i]);
	await_no_process(&out[1]);
}
END_TEST
#endif

/* One that does not wait would lose lines of the next. */
START_TEST(resets_standard_error)
{
	check_output(SHELL, "perl -MFcntl -e 'fcntl(STDERR, F_SETFL, "
	    "O_NONBLOCK) or die'", "");
	check_output(SHELL, "perl -MFcntl -e 'print fcntl(STDERR, F_GETFL, 0) "
	    "& O_NONBLOCK'", "0");
}
END_TEST

START_TEST(ends_with_main)
{
	int	requests[2], out[2];

	for (int i = 0; i < 2; i++)
		out[i] = await_ready(SHELL, trees[i], &requests[i]);
	io_close(&mains);
	for (int i = 0; i < 2; i++)
		io_close(&requests[i]);
	for (int i = 0; i < 2; i++)
		await_no_process(&out[i]);
	ck_assert_int_eq(await_manager(), 0);
}
END_TEST

/* Mains that drain send no STARTs, and finish. */
START_TEST(stays_for_requests)
{
	int	request, output = await_ready(SHELL, trees[0], &request);

	io_close(&mains);
	ck_assert_int_eq(waitpid(manager, NULL, WNOHANG), 0);
	kill(manager, SIGTERM);
	io_close(&request);
	ck_assert_int_eq(await_manager(), 0);
	await_no_process(&output);
}
END_TEST

START_TEST(leaves_no_program_when_it_is_killed)
{
	int	request, output = await_ready(SHELL, trees[_i], &request);

	kill(manager, SIGKILL);
	ck_assert_int_eq(await_manager(), SIGKILL);
	await_no_process(&output);
	await_end(&request);
}
END_TEST

/*
 * The queue
 */

START_TEST(queues_and_refuses)
{
	struct program_report	report;
	int			first, second, third, output;
	struct pollfd		fd = { .events = POLLIN };

	output = await_ready(ONE, trees[0], &first);
	second = start_shell(ONE, "echo second", -1);
	third = start_shell(ONE, "echo third", -1);
	await_report(third, PROGRAM_BUSY, &report);
	ck_assert_uint_eq(report.retry_after, WAIT_MS / 1000);
	await_end(&third);
	fd.fd = second;
	ck_assert_int_eq(poll(&fd, 1, 0), 0);
	/* Another program has places of its own. */
	check_output(SHELL, "echo other", "other\n");
	io_close(&first);
	await_no_process(&output);
	output = await_start(second);
	await_no_process(&output);
	io_close(&second);
}
END_TEST

START_TEST(waits_for_so_long)
{
	struct program_report	report;
	int			first, second, output;

	output = await_ready(SHORT, trees[0], &first);
	second = start_shell(SHORT, "echo second", -1);
	await_report(second, PROGRAM_BUSY, &report);
	ck_assert_uint_eq(report.retry_after, 1);
	await_end(&second);
	io_close(&first);
	await_no_process(&output);
}
END_TEST

START_TEST(forgets_who_leaves_the_queue)
{
	struct program_start	start = { .program = ONE, .body = PROGRAM_BODY_FILE };
	struct program_report	report;
	int			fds[2], first, second, output, unused;

	/* The body does not come. */
	ck_assert_int_eq(io_record_pipe(fds), 0);
	ck_assert_int_eq(program_message_send_start(mains, &start, fds[1]), 0);
	close(fds[1]);
	/* It takes no place of those that run, but one of the queue. */
	output = await_ready(ONE, trees[0], &first);
	second = start_shell(ONE, "echo second", -1);
	await_report(second, PROGRAM_BUSY, &report);
	io_close(&second);
	io_close(&fds[0]);
	/* The manager may see the next START before that end. */
	do {
		io_close(&second);
		second = start_shell(ONE, "echo second", -1);
		check_output(SHELL, "", "");
	} while (program_message_recv_report(second, &report, &unused) == 1);
	io_close(&first);
	await_no_process(&output);
	output = await_start(second);
	await_no_process(&output);
	io_close(&second);
}
END_TEST

/*
 * Standard error
 */

START_TEST(logs_lines)
{
	struct buf	text = { 0 };
	char		line[100];
	int		request, output, pid;

	request = start_shell(SHELL, "echo $$; echo one >&2; printf two >&2",
	    -1);
	output = await_start(request);
	pid = atoi(read_output(output, NULL, &text));
	ck_assert_int_eq(await_status(request), 0);
	await_end(&request);
	snprintf(line, sizeof(line), "warn: shell[%d]: one\n", pid);
	await_line(line);
	snprintf(line, sizeof(line), "warn: shell[%d]: two\n", pid);
	await_line(line);
	io_close(&output);
	/* An unnamed program has the name of its file. */
	write_file("cries", 0755, "#!/bin/sh\necho three >&2\n");
	request = start_texts(DIRECTORY, "cries", "", -1);
	await_line("]: three\n");
	ck_assert_ptr_ne(strstr(buf_string(&lines), "warn: cries["), NULL);
	io_close(&request);
	buf_free(&text);
}
END_TEST

START_TEST(limits_lines)
{
	int	request, output;

	request = start_shell(SHELL, "seq 1 100000 >&2; exit 1", -1);
	output = await_start(request);
	ck_assert_int_eq(WEXITSTATUS(await_status(request)), 1);
	await_end(&request);
	await_line("]: 99999\n");
	await_line("]: ended with status 1\n");
	await_line(" lines of standard error were left out)\n");
	ck_assert_ptr_ne(strstr(buf_string(&lines), "]: 100\n"), NULL);
	io_close(&output);
}
END_TEST

/* No later line tells of them. */
START_TEST(tells_of_the_last_lines)
{
	int	request, output;

	request = start_shell(SHELL, "seq 1 300 >&2", -1);
	output = await_start(request);
	ck_assert_int_eq(await_status(request), 0);
	await_end(&request);
	await_line(" lines of standard error were left out)\n");
	io_close(&output);
}
END_TEST

START_TEST(reads_all_of_it)
{
	check_output(SHELL, "head -c 20000000 /dev/zero >&2; echo done",
	    "done\n");
}
END_TEST

#define COUNT(table)	(int)(sizeof(table) / sizeof((table)[0]))

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, gives_a_program_its_own, 0, COUNT(outputs));
	tcase_add_test(tests, passes_a_body);
	tcase_add_test(tests, passes_a_pipe);
	tcase_add_test(tests, passes_no_pipe_to_nothing);
	tcase_add_loop_test(tests, runs_files_of_a_directory, 0, COUNT(files));
	tcase_add_test(tests, enters_the_directory_of_a_script);
	tcase_add_test(tests, tells_why_none_starts);
	tcase_add_test(tests, tells_how_it_ended);
	tcase_add_loop_test(tests, ends_all_that_it_has_started, 0,
	    COUNT(trees));
	tcase_add_loop_test(tests, ends_what_it_has_left, 0, COUNT(remains));
	tcase_add_test(tests, uses_a_reaper_again);
	tcase_add_test(tests, starts_another_reaper);
#ifdef __linux__
	tcase_add_test(tests, ends_what_a_dead_reaper_leaves);
#endif
	tcase_add_test(tests, resets_standard_error);
	tcase_add_test(tests, ends_with_main);
	tcase_add_test(tests, stays_for_requests);
	tcase_add_loop_test(tests, leaves_no_program_when_it_is_killed, 0,
	    COUNT(trees));
	tcase_add_test(tests, queues_and_refuses);
	tcase_add_test(tests, waits_for_so_long);
	tcase_add_test(tests, forgets_who_leaves_the_queue);
	tcase_add_test(tests, logs_lines);
	tcase_add_test(tests, limits_lines);
	tcase_add_test(tests, tells_of_the_last_lines);
	tcase_add_test(tests, reads_all_of_it);
}
