/*
 * Tests of programs/pool: processes stay, and end when they should.
 */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t/unit/programs/exchange.h"

/* Indices in programs. */
enum {
	POOL, ONE, SHORT, IDLE, WORN, LIMITED, RESTLESS, DEAD, ONCE, MISSING,
	PROGRAMS
};

#define LONG_MS	(10 * WAIT_MS)

static char		 file[64], once[64];
static char		*command[] = { file };
static char		*dead[] = { (char []){ "/bin/sh" },
	(char []){ "-c" }, (char []){ "exit 7" } };
static char		*restless[] = { file, (char []){ "restless" } };
static char		*die_once[] = { once, file };
static char		*missing[] = { (char []){ "/nowhere/program" } };
static struct conf_pair	 pairs[] = {
	{ .name = (char []){ "OWN" }, .value = (char []){ "own value" } },
};

#define POOL_OF(n, NAME, arguments, ms) .name = (char []){ NAME },	\
	.protocol = CONF_FASTCGI, .most = (n), .queue = (n),		\
	.command = { arguments, sizeof(arguments) / sizeof(*(arguments)) }, \
	.within = (ms)

static struct conf_program programs[PROGRAMS] = {
	[POOL] = { POOL_OF(3, "pool", command, WAIT_MS), .idle = LONG_MS },
	[ONE] = { POOL_OF(1, "one", command, WAIT_MS), .idle = LONG_MS },
	[SHORT] = { POOL_OF(1, "short", command, 20), .idle = LONG_MS },
	[IDLE] = { POOL_OF(2, "idle", command, WAIT_MS), .idle = 20 },
	[WORN] = { POOL_OF(1, "worn", command, WAIT_MS), .idle = LONG_MS,
	    .requests = 3 },
	[LIMITED] = { POOL_OF(1, "limited", command, WAIT_MS),
	    .idle = LONG_MS, .variables = { pairs, 1 }, .nice = 7,
	    .files = 33, .memory = 1 << 30, .cpu = 1500,
	    .processes = 1000 },
	[RESTLESS] = { POOL_OF(1, "restless", restless, WAIT_MS),
	    .idle = LONG_MS },
	[DEAD] = { POOL_OF(2, "dead", dead, 20), .idle = LONG_MS },
	[ONCE] = { POOL_OF(2, "once", die_once, WAIT_MS), .idle = LONG_MS },
	[MISSING] = { POOL_OF(2, "missing", missing, 20), .idle = LONG_MS },
};
static const struct conf conf = { .programs = programs,
    .nprograms = PROGRAMS };

static char	temporary[64];

static void
set_up(void)
{
	ck_assert_ptr_ne(mkdtemp(directory), NULL);
	snprintf(file, sizeof(file), "%s/application", directory);
	snprintf(once, sizeof(once), "%s/once", directory);
	write_file("application", 0755, application);
	/* The first process ends at once. */
	write_file("once", 0755, "#!/bin/sh\n"
	    "mkdir \"$0.begun\" 2> /dev/null && exit 8\nexec \"$1\"\n");
	snprintf(temporary, sizeof(temporary), "%s/tmp", directory);
	ck_assert_int_eq(mkdir(temporary, 0755), 0);
	ck_assert_int_eq(setenv("TMPDIR", temporary, 1), 0);
	start_manager(&conf);
}

static void
tear_down(void)
{
	/* Sockets and their directories are gone. */
	ck_assert_int_eq(rmdir(temporary), 0);
	end_manager();
}

static bool
has_report(const struct exchange *x)
{
	struct pollfd	fd = { .fd = x->request, .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

/*
 * Processes that stay
 */

START_TEST(uses_a_process_again)
{
	int	pid = run(POOL);

	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(run(POOL), pid);
}
END_TEST

START_TEST(starts_one_for_each_that_waits)
{
	struct exchange	x[3];
	int		pids[3], pid;

	for (int i = 0; i < 3; i++)
		x[i].request = start_texts(POOL, "", "", -1);
	for (int i = 0; i < 3; i++) {
		x[i].connection = await_start(x[i].request);
		x[i].answer = (struct buf){ 0 };
		ask(&x[i], "$$\n");
		pids[i] = await_number(&x[i]);
	}
	ck_assert(pids[0] != pids[1] && pids[1] != pids[2] &&
	    pids[0] != pids[2]);
	/* The last used is the first. */
	finish(&x[1]);
	finish(&x[0]);
	finish(&x[2]);
	x[0] = begin_at(POOL, &pid);
	ck_assert_int_eq(pid, pids[2]);
	x[1] = begin_at(POOL, &pid);
	ck_assert_int_eq(pid, pids[0]);
	x[2] = begin_at(POOL, &pid);
	ck_assert_int_eq(pid, pids[1]);
	for (int i = 0; i < 3; i++)
		finish(&x[i]);
}
END_TEST

START_TEST(queues_and_refuses)
{
	struct program_report	report;
	struct exchange		first, second = { 0 };
	int			pid, other;

	first = begin_at(ONE, &pid);
	second.request = start_texts(ONE, "", "", -1);
	other = start_texts(ONE, "", "", -1);
	await_report(other, PROGRAM_BUSY, &report);
	await_end(&other);
	ck_assert(!has_report(&second));
	finish(&first);
	second.connection = await_start(second.request);
	ask(&second, "$$\n");
	ck_assert_int_eq(await_number(&second), pid);
	finish(&second);
}
END_TEST

/* The time of a request may be over before its process has started, which the
 * next one then has. */
static struct exchange
begin_short(void)
{
	struct program_report	report = { .kind = PROGRAM_BUSY };
	struct exchange		x = { .request = -1 };

	while (report.kind == PROGRAM_BUSY) {
		io_close(&x.request);
		x.request = start_texts(SHORT, "", "", -1);
		await_input(x.request);
		ck_assert_int_eq(program_message_recv_report(x.request,
		    &report, &x.connection), 1);
	}
	ck_assert_uint_eq(report.kind, PROGRAM_STARTED);
	return x;
}

START_TEST(waits_for_so_long)
{
	struct program_report	report;
	struct exchange		first = begin_short();
	int			other = start_texts(SHORT, "", "", -1);

	await_report(other, PROGRAM_BUSY, &report);
	ck_assert_uint_eq(report.retry_after, 1);
	await_end(&other);
	finish(&first);
}
END_TEST

/* A request that leaves the queue leaves its process to others. */
START_TEST(forgets_who_leaves_the_queue)
{
	struct exchange	first;
	int		other, pid;

	first = begin_at(ONE, &pid);
	other = start_texts(ONE, "", "", -1);
	io_close(&other);
	finish(&first);
	ck_assert_int_eq(run(ONE), pid);
}
END_TEST

static const struct {
	const char	*line, *answer;
} own[] = {
	{ "$ENV{OWN}\n", "own value\n" },
	{ "$ENV{PATH}\n", "/usr/local/bin:/usr/bin:/bin\n" },
	{ "join(' ', sort(grep { $_ ne '_' && !/^PERL/ } keys(%ENV)))\n",
	    "OWN PATH\n" },
	{ "qx(nice; ulimit -n; ulimit -v; ulimit -t; ulimit -c) =~ "
	    "s/\\n/ /gr\n", "7 33 1048576 2 0 \n" },
	{ "getcwd() eq '/tmp' ? 1 : getcwd() =~ /amped-programs/ ? 2 : 3\n",
	    "2\n" },
	{ "(split(' ', qx(cat /proc/$$/stat)))[4] == $$ ? 'leads' : "
	    "'follows'\n", "leads\n" },
	{ "(-S STDIN ? 1 : 0) . (-p STDOUT ? 1 : 0) . (-p STDERR ? 1 : 0)\n",
	    "111\n" },
	/* Perl has the program's text, and the connection. */
	{ "scalar(grep { (readlink(\"/proc/$$/fd/$_\") // '') =~ "
	    "/socket|pipe/ } 3 .. 32)\n", "1\n" },
};

START_TEST(gives_a_process_its_own)
{
	struct exchange	x = begin(LIMITED);

	ask(&x, own[_i].line);
	ck_assert_str_eq(read_output(x.connection, "\n", &x.answer),
	    own[_i].answer);
	finish(&x);
}
END_TEST

START_TEST(lets_none_else_connect)
{
	struct exchange	x = begin(POOL);

	ask(&x, "socket(my $s, AF_UNIX, SOCK_STREAM, 0); "
	    "connect($s, getsockname($listener)) ? 'connected' : $!{ENOENT} "
	    "? 'none there' : \"$!\"\n");
	ck_assert_str_eq(read_output(x.connection, "\n", &x.answer),
	    "none there\n");
	finish(&x);
}
END_TEST

START_TEST(logs_lines)
{
	struct exchange	x;
	char		line[100];
	int		pid;

	x = begin_at(POOL, &pid);
	ask(&x, "syswrite(STDERR, \"one\\n\"); "
	    "syswrite(STDOUT, \"two\\n\")\n");
	snprintf(line, sizeof(line), "warn: pool[%d]: one\n", pid);
	await_line(line);
	snprintf(line, sizeof(line), "warn: pool[%d]: two\n", pid);
	await_line(line);
	(void)await_number(&x);
	finish(&x);
}
END_TEST

/*
 * Their end
 */

/* Each is in the middle of something, and all processes have the connection. */
static const char *const trees[] = {
	"syswrite($c, \"ready\\n\"); sleep(1000)\n",
	("$SIG{TERM} = 'IGNORE'; syswrite($c, \"ready\\n\"); "
	    "sleep(1) while 1\n"),
	"fork() // die; syswrite($c, \"ready\\n\"); sleep(1000)\n",
	/* A daemon. */
	("if (fork() == 0) { POSIX::setsid(); fork() and POSIX::_exit(0); "
	    "syswrite($c, \"ready\\n\"); } sleep(1000)\n"),
	"syswrite($c, \"ready\\n\"); kill('STOP', $$)\n",
};

START_TEST(ends_what_is_abandoned)
{
	struct exchange	x;
	int		pid;

	x = begin_at(ONE, &pid);
	ask(&x, trees[_i]);
	x.answer.len = 0;
	(void)read_output(x.connection, "ready\n", &x.answer);
	io_close(&x.request);
	await_gone(&x);
	ck_assert_int_ne(run(ONE), pid);
}
END_TEST

START_TEST(tells_how_one_ended)
{
	struct exchange	x;
	char		line[100];
	int		pid, status;

	ck_assert_int_gt(run(POOL), 0);
	x = begin_at(POOL, &pid);
	ask(&x, "exit(3)\n");
	ck_assert_int_eq(WEXITSTATUS(await_status(x.request)), 3);
	await_end(&x.request);
	await_gone(&x);
	snprintf(line, sizeof(line), "pool[%d]: ended with status 3\n", pid);
	await_line(line);
	x = begin_at(POOL, &status);
	ck_assert_int_ne(pid, status);
	ask(&x, "kill('KILL', $$)\n");
	status = await_status(x.request);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	await_end(&x.request);
	await_gone(&x);
}
END_TEST

/* A process for one request, which ends at once behind its answer. */
START_TEST(takes_an_end_of_its_own_for_none_early)
{
	struct exchange	x;
	int		pid, next = 0;

	for (int i = 0; i < 3; i++) {
		x = begin_at(ONE, &pid);
		ck_assert_int_ne(pid, next);
		next = pid;
		ask(&x, "exit(0)\n");
		ck_assert_int_eq(await_status(x.request), 0);
		await_end(&x.request);
		await_gone(&x);
	}
	ck_assert_int_eq(poll(&(struct pollfd){ .fd = errors,
	    .events = POLLIN }, 1, 0), 0);
}
END_TEST

/* The descendants of a process that has ended have its place. */
START_TEST(ends_what_it_has_left)
{
	struct exchange	x;
	int		pid;

	x = begin_at(ONE, &pid);
	ask(&x, "if (fork() == 0) { POSIX::setsid(); sleep(1000) } exit(0)\n");
	ck_assert_int_eq(await_status(x.request), 0);
	await_end(&x.request);
	await_gone(&x);
	ck_assert_int_ne(run(ONE), pid);
}
END_TEST

START_TEST(replaces_one_that_closes)
{
	struct exchange	x;
	int		pid, next = 0;

	for (int i = 0; i < 5; i++) {
		x = begin_at(ONE, &pid);
		ck_assert_int_ne(pid, next);
		next = pid;
		ask(&x, "syswrite($c, \"last\\n\"); close($c)\n");
		x.answer.len = 0;
		(void)read_output(x.connection, NULL, &x.answer);
		finish(&x);
	}
}
END_TEST

/*
 * Other connections of a process
 */

/* What a connection that is not used again still brings is not of the next
 * request. */
START_TEST(connects_again)
{
	struct exchange	x;
	int		pid, first = run(ONE), old;

	for (int i = 0; i < 5; i++) {
		x = begin_at(ONE, &pid);
		ck_assert_int_eq(pid, first);
		ask(&x, "42\n");
		old = dup(x.connection);
		finish_with(&x, false);
		x = (struct exchange){ .request = start_texts(ONE, "", "",
		    -1) };
		x.connection = await_start(x.request);
		x.answer = (struct buf){ 0 };
		await_input(old);	/* and nobody reads it */
		io_close(&old);
		ask(&x, "$$\n");
		ck_assert_int_eq(await_number(&x), first);
		finish_with(&x, i % 2 == 0);
	}
}
END_TEST

/* The process accepts no connection. */
START_TEST(replaces_one_that_refuses)
{
	struct exchange	x;
	int		pid;

	x = begin_at(ONE, &pid);
	ask(&x, "POSIX::close(0); 1\n");
	ck_assert_int_eq(await_number(&x), 1);
	finish_with(&x, false);
	ck_assert_int_ne(run(ONE), pid);
}
END_TEST

/* The process closes its connection before its first request, as the one that
 * waited for it has gone. */
START_TEST(connects_to_one_that_closed)
{
	struct program_start	start = { .program = RESTLESS };
	int			fds[2];
	char			line[100];

	ck_assert_int_eq(io_record_pipe(fds), 0);
	close(fds[0]);
	ck_assert_int_eq(program_message_send_start(mains, &start, fds[1]), 0);
	close(fds[1]);
	await_line("]: closed\n");
	snprintf(line, sizeof(line), "restless[%d]: closed\n", run(RESTLESS));
	ck_assert_ptr_nonnull(strstr(buf_string(&lines), line));
}
END_TEST

/* A process that says something without a request is as bad. */
START_TEST(replaces_one_that_speaks)
{
	struct exchange	x;
	int		pid, first;

	x = begin_at(ONE, &first);
	ask(&x, "fork() or do { syswrite($c, \"more\\n\"); "
	    "POSIX::_exit(0) }; wait() && 'waited'\n");
	x.answer.len = 0;
	(void)read_output(x.connection, "waited\n", &x.answer);
	ask(&x, "2\n");
	await_input(x.connection);
	ck_assert_int_eq(program_message_send_done(x.request,
	    &(struct program_done){ .nanswered = 1, .again = true }), 0);
	await_end(&x.request);
	await_gone(&x);
	x = begin_at(ONE, &pid);
	ck_assert_int_ne(pid, first);
	finish(&x);
}
END_TEST

START_TEST(ends_the_idle)
{
	struct exchange	x[2];
	int		connections[2], pids[2], pid;

	for (int i = 0; i < 2; i++) {
		x[i] = begin_at(IDLE, &pids[i]);
		connections[i] = dup(x[i].connection);
	}
	for (int i = 0; i < 2; i++)
		finish(&x[i]);
	for (int i = 0; i < 2; i++)
		await_no_process(&connections[i]);
	pid = run(IDLE);
	ck_assert(pid != pids[0] && pid != pids[1]);
}
END_TEST

START_TEST(ends_the_worn)
{
	int	pid = run(WORN);

	for (int i = 1; i < 3; i++)
		ck_assert_int_eq(run(WORN), pid);
	ck_assert_int_ne(run(WORN), pid);
}
END_TEST

/*
 * Early ends
 */

/* The first request may have been given the connection of a process that was
 * ending. */
START_TEST(backs_off)
{
	int	request = start_texts(DEAD, "", "", -1);

	await_line("dead[");
	await_line("]: ended with status 7\n");
	await_line("warn: dead: its processes cannot be started or end at "
	    "once; the next one is started in 1 s\n");
	io_close(&request);
	request = start_texts(DEAD, "", "", -1);
	ck_assert_int_eq(await_error(request), ECHILD);
	await_end(&request);
	/* Others are not concerned. */
	ck_assert_int_gt(run(POOL), 0);
}
END_TEST

START_TEST(tries_again)
{
	int	request = start_texts(ONCE, "", "", -1);

	await_line("the next one is started in 1 s\n");
	io_close(&request);
	ck_assert_int_gt(run(ONCE), 0);
}
END_TEST

START_TEST(tells_why_none_starts)
{
	int	request = start_texts(MISSING, "", "", -1);

	await_line("missing: cannot be started: No such file or directory\n");
	await_line("missing: its processes cannot be started or end at once");
	io_close(&request);
	request = start_texts(MISSING, "", "", -1);
	ck_assert_int_eq(await_error(request), ENOENT);
	await_end(&request);
}
END_TEST

static int
count_fds(pid_t pid)
{
	char		 name[40];
	DIR		*d;
	int		 n = -2;	/* "." and ".." */

	snprintf(name, sizeof(name), "/proc/%ld/fd", (long)pid);
	ck_assert_ptr_nonnull(d = opendir(name));
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

/* The manager has enough descriptors for a new process, and its new reaper,
 * which needs two more, has none. */
START_TEST(tells_why_no_reaper_starts)
{
	struct rlimit	most;
	int		request;

	ck_assert_int_gt(run(POOL), 0);
	most.rlim_cur = most.rlim_max = (rlim_t)count_fds(manager) + 8;
	ck_assert_int_eq(prlimit(manager, RLIMIT_NOFILE, &most, NULL), 0);
	request = start_texts(SHORT, "", "", -1);
	await_line("short: its processes cannot be started or end at once");
	ck_assert_ptr_nonnull(strstr(buf_string(&lines),
	    "short: cannot be started: Too many open files\n"));
	io_close(&request);
	request = start_texts(SHORT, "", "", -1);
	ck_assert_int_eq(await_error(request), EMFILE);
	await_end(&request);
}
END_TEST

/*
 * The end of the manager
 */

/* Begins a request beside a process that has none; *idle: its connection. */
static struct exchange
begin_beside_idle(int *idle)
{
	int		pid;
	struct exchange	x = begin_at(POOL, &pid), y = begin_at(POOL, &pid);

	*idle = dup(y.connection);
	finish(&y);
	return x;
}

START_TEST(ends_with_main)
{
	int		idle;
	struct exchange	x = begin_beside_idle(&idle);

	io_close(&mains);
	await_no_process(&idle);
	/* A request is finished, and its process then ends. */
	ask(&x, "42\n");
	ck_assert_int_eq(await_number(&x), 42);
	idle = dup(x.connection);
	finish(&x);
	await_no_process(&idle);
	ck_assert_int_eq(await_manager(), 0);
}
END_TEST

START_TEST(serves_those_that_wait_before_it_ends)
{
	struct exchange	x, y = { 0 };
	int		pid;

	x = begin_at(ONE, &pid);
	y.request = start_texts(ONE, "", "", -1);
	io_close(&mains);
	finish(&x);
	y.connection = await_start(y.request);
	ask(&y, "$$\n");
	ck_assert_int_eq(await_number(&y), pid);
	finish(&y);
	ck_assert_int_eq(await_manager(), 0);
}
END_TEST

START_TEST(leaves_no_process_when_it_is_killed)
{
	int		idle;
	struct exchange	x = begin_beside_idle(&idle);

	ask(&x, trees[3]);
	x.answer.len = 0;
	(void)read_output(x.connection, "ready\n", &x.answer);
	kill(manager, SIGKILL);
	ck_assert_int_eq(await_manager(), SIGKILL);
	await_no_process(&idle);
	await_gone(&x);
	io_close(&x.request);
}
END_TEST

#define COUNT(table)	(int)(sizeof(table) / sizeof((table)[0]))

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, uses_a_process_again);
	tcase_add_test(tests, starts_one_for_each_that_waits);
	tcase_add_test(tests, queues_and_refuses);
	tcase_add_test(tests, waits_for_so_long);
	tcase_add_test(tests, forgets_who_leaves_the_queue);
	tcase_add_loop_test(tests, gives_a_process_its_own, 0, COUNT(own));
	tcase_add_test(tests, lets_none_else_connect);
	tcase_add_test(tests, logs_lines);
	tcase_add_loop_test(tests, ends_what_is_abandoned, 0, COUNT(trees));
	tcase_add_test(tests, tells_how_one_ended);
	tcase_add_test(tests, takes_an_end_of_its_own_for_none_early);
	tcase_add_test(tests, ends_what_it_has_left);
	tcase_add_test(tests, replaces_one_that_closes);
	tcase_add_test(tests, connects_again);
	tcase_add_test(tests, replaces_one_that_refuses);
	tcase_add_test(tests, connects_to_one_that_closed);
	tcase_add_test(tests, replaces_one_that_speaks);
	tcase_add_test(tests, ends_the_idle);
	tcase_add_test(tests, ends_the_worn);
	tcase_add_test(tests, backs_off);
	tcase_add_test(tests, tries_again);
	tcase_add_test(tests, tells_why_none_starts);
	tcase_add_test(tests, tells_why_no_reaper_starts);
	tcase_add_test(tests, ends_with_main);
	tcase_add_test(tests, serves_those_that_wait_before_it_ends);
	tcase_add_test(tests, leaves_no_process_when_it_is_killed);
}
