/*
 * Tests of lib/need: the log lines of a crash.
 */
#include <sys/wait.h>

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/need.h"
#include "t/unit/unit.h"

static const char	*step, *request;

static const char *
doing(void)
{
	return step;
}

static const char *
for_whom(void)
{
	return request;
}

/* Runs a function in a child; returns the child's lines and exit status. */
static int
dies(void (*fault)(void), char *said, size_t size)
{
	int	fds[2], status;
	ssize_t	n, len = 0;
	pid_t	pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		signal(SIGSEGV, SIG_DFL);	/* a sanitizer's */
		signal(SIGABRT, SIG_DFL);
		log_init("test", LOG_LEVEL_ERROR);
		need_crash_context(doing, for_whom);
		fault();
		_exit(0);
	}
	close(fds[1]);
	while ((n = read(fds[0], said + len, size - 1 - (size_t)len)) > 0)
		len += n;
	said[len] = '\0';
	close(fds[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static void
segv(void)
{
	raise(SIGSEGV);
}

static void
wild(void)
{
	volatile uintptr_t	at = 16;

	*(volatile char *)at = 1;
}

static void
told_to_say(void)
{
	raise(SIGABRT);
}

static void
bug(void)
{
	need(step == NULL);
}

START_TEST(a_signal_leaves_a_line)
{
	char	said[1000];
	int	status;

	step = "find";
	status = dies(segv, said, sizeof(said));
	ck_assert_str_eq(said, "test: error: bug: SIGSEGV while at find\n");
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	request = "GET /a HTTP/1.1";
	dies(segv, said, sizeof(said));
	ck_assert_str_eq(said, "test: error: bug: SIGSEGV while at find\n"
	    "test: error: bug: for GET /a HTTP/1.1\n");
	status = dies(told_to_say, said, sizeof(said));
	ck_assert_str_eq(said, "test: error: bug: SIGABRT while at find\n"
	    "test: error: bug: for GET /a HTTP/1.1\n");
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	step = request = NULL;
	dies(segv, said, sizeof(said));
	ck_assert_str_eq(said,
	    "test: error: bug: SIGSEGV between two steps\n");
}
END_TEST

START_TEST(a_fault_has_an_address)
{
	char	said[1000];
	int	status;

	step = "find";
	status = dies(wild, said, sizeof(said));
	ck_assert_ptr_nonnull(strstr(said, "SIGSEGV at address 0x"));
	ck_assert_ptr_nonnull(strstr(said, "0010 while at find\n"));
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}
END_TEST

START_TEST(what_does_not_hold_does_too)
{
	char	said[1000];
	int	status;

	step = "send";
	status = dies(bug, said, sizeof(said));
	ck_assert_ptr_nonnull(strstr(said,
	    "\"step == NULL\" does not hold, while at send\n"));
	ck_assert_ptr_null(strstr(said, "SIGABRT"));
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, a_fault_has_an_address);
	tcase_add_test(tests, a_signal_leaves_a_line);
	tcase_add_test(tests, what_does_not_hold_does_too);
}
