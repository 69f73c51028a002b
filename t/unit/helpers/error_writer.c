/*
 * Tests of helpers/error_writer: lines before its end, lost lines, and a log
 * that fails.
 */
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <signal.h>

#include "helpers/error_writer.h"
#include "helpers/log_sink.h"
#include "lib/log.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

static int	lines[2], drops[2];

static int
setup(const char *name)
{
	int	log = open(tree_path(name), O_WRONLY | O_APPEND | O_CREAT,
		    0600);

	ck_assert_int_ne(log, -1);
	ck_assert_int_eq(pipe2(lines, O_NONBLOCK), 0);
	ck_assert_int_eq(pipe2(drops, O_NONBLOCK), 0);
	log_init("error logger", LOG_LEVEL_NOTICE);
	return log;
}

static void
run(int pipe, int log)
{
	error_writer_run(pipe, lines[0], drops[0],
	    &(struct log_sink){ .fd = log });
}

static void
say(const char *text)
{
	ck_assert_int_eq(write(lines[1], text, strlen(text)), strlen(text));
}

START_TEST(all_before_the_end)
{
	int	log = setup("all");

	say("one\n");
	say("two\n");
	run(-1, log);
	ck_assert_str_eq(tree_text("all"), "one\ntwo\n");
	run(-1, log);
	ck_assert_str_eq(tree_text("all"), "one\ntwo\n");
}
END_TEST

#define TIME		"2026-01-01T00:00:01+0000 "
#define FAILED		TIME "monitor[7] error: the conf in force stays"
#define READ_AGAIN	TIME "monitor[7] notice: read again\n"

/* A count comes before what its process says next. */
START_TEST(counts_in_order)
{
	int	log = setup("counts");

	say(FAILED "\n" FAILED "\n" TIME "main[8] notice: x\n" FAILED "\n"
	    READ_AGAIN READ_AGAIN);
	run(-1, log);
	ck_assert_str_eq(tree_text("counts"), FAILED "\n"
	    TIME "main[8] notice: x\n" FAILED " (2 times more)\n"
	    READ_AGAIN READ_AGAIN);
}
END_TEST

/* Lines of libraries and programs may have control characters. */
START_TEST(no_terminal_obeys)
{
	int	log = setup("raw");

	say("a\x9b" "31m\tb\xc3\xa9\xc2\x9b\033[0m\ntwo\n");
	run(-1, log);
	ck_assert_str_eq(tree_text("raw"),
	    "a?31m\tb\xc3\xa9???[0m\ntwo\n");
}
END_TEST

START_TEST(losses_are_told_behind)
{
	int		 log = setup("losses");
	const char	*text, *line;

	say("one\n");
	ck_assert_int_eq(write(drops[1], "xxx", 3), 3);
	run(-1, log);
	text = tree_text("losses");
	ck_assert(strncmp(text, "one\n", 4) == 0);
	line = strstr(text, "] warn: 3 lines of the error log were lost");
	ck_assert_ptr_nonnull(line);
	ck_assert_str_eq(strchr(line, '\n'), "\n");
}
END_TEST

/* Runs an error writer in another process, with a limit on the size of the log;
 * returns our end of the stream pipe. */
static pid_t
start(int log, rlim_t bytes, int *pipe)
{
	struct rlimit	l = { .rlim_cur = bytes, .rlim_max = RLIM_INFINITY };
	int		fd[2];
	pid_t		pid;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	pid = fork();
	if (pid == 0) {
		close(fd[0]);
		signal(SIGXFSZ, SIG_IGN);
		if (setrlimit(RLIMIT_FSIZE, &l) == -1)
			_exit(1);
		run(fd[1], log);
		_exit(0);
	}
	close(fd[1]);
	*pipe = fd[0];
	return pid;
}

/* Waits for a line; the test has a timeout. */
static void
await(const char *name, const char *text)
{
	while (strstr(tree_text(name), text) == NULL)
		usleep(1000);
}

/* Lost lines are reported even if no more lines come. */
START_TEST(lost_to_a_log_that_fails)
{
	int		 log = setup("fails"), pipe, status;
	struct rlimit	 l = { RLIM_INFINITY, RLIM_INFINITY };
	pid_t		 pid = start(log, 10, &pipe);
	const char	*text;

	say("one\ntwo\nthree\nfour\n");		/* "three" does not fit */
	await("fails", "one\ntwo\nth");
	ck_assert_int_eq(prlimit(pid, RLIMIT_FSIZE, &l, NULL), 0);
	await("fails", "lost");
	text = tree_text("fails");
	ck_assert(strncmp(text, "one\ntwo\nth\n", 11) == 0);
	ck_assert_ptr_nonnull(strstr(text, "] warn: 2 lines of the error"));
	say("five\n");
	close(pipe);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	text = tree_text("fails");
	ck_assert_str_eq(text + strlen(text) - 5, "five\n");
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_unchecked_fixture(tests, tree_begin, tree_end);
	tcase_add_test(tests, all_before_the_end);
	tcase_add_test(tests, counts_in_order);
	tcase_add_test(tests, no_terminal_obeys);
	tcase_add_test(tests, losses_are_told_behind);
	tcase_add_test(tests, lost_to_a_log_that_fails);
}
