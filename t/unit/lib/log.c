/*
 * Tests of lib/log: levels, one line a call, errno.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/buf.h"
#include "lib/log.h"
#include "t/unit/unit.h"

static struct buf	lines;

static void
append_output(void *context, const char *line, size_t n)
{
	ck_assert_ptr_eq(context, &lines);
	buf_add(&lines, line, n);
}

static void
setup(enum log_level level)
{
	log_init("test", level);
	log_set_output(append_output, &lines);
}

START_TEST(levels)
{
	setup(LOG_LEVEL_WARN);
	log_notice("not this");
	ck_assert_uint_eq(lines.len, 0);
	log_warnx("but %s", "this");
	ck_assert(strstr(buf_string(&lines), " test[") != NULL);
	ck_assert(strstr(lines.at, "] warn: but this\n") != NULL);
}
END_TEST

START_TEST(system_error)
{
	setup(LOG_LEVEL_ERROR);
	errno = ENOENT;
	log_error("open");
	ck_assert_int_eq(errno, ENOENT);
	ck_assert(strstr(buf_string(&lines),
	    "error: open: No such file or directory\n") != NULL);
}
END_TEST

/* A line ends with errno's text and the remedy, as far as they fit. */
START_TEST(advice)
{
	char	text[2000];

	setup(LOG_LEVEL_ERROR);
	errno = ENOSPC;
	log_error("write");
	ck_assert(strstr(buf_string(&lines),
	    "error: write: No space left on device; "
	    "free space on that file system\n") != NULL);
	errno = EMFILE;
	log_error("open");
	ck_assert(strstr(buf_string(&lines), "ulimit -n)\n") != NULL);
	for (size_t n = 900; n < 1100; n++) {
		memset(text, 'x', n);
		text[n] = '\0';
		lines.len = 0;
		errno = ENOSPC;
		log_error("%s", text);
		ck_assert_uint_le(lines.len, 1024);
		ck_assert_int_eq(lines.at[lines.len - 1], '\n');
	}
}
END_TEST

/* Standard error is a non-blocking pipe, which takes whole lines or none. */
START_TEST(counted_drops)
{
	static char	got[1024 * 1024];
	int		lines_pipe[2], drops[2];
	size_t		said = 0;
	ssize_t		n, lost;

	ck_assert_int_eq(pipe2(lines_pipe, O_NONBLOCK), 0);
	ck_assert_int_eq(pipe2(drops, O_NONBLOCK), 0);
	log_init("test", LOG_LEVEL_WARN);
	ck_assert_int_ne(dup2(lines_pipe[1], STDERR_FILENO), -1);
	log_count_drops(drops[1]);
	do {
		errno = EDOM;
		log_warnx("%0500d", (int)said++);
		ck_assert_int_eq(errno, EDOM);
		n = read(drops[0], got, sizeof(got));
	} while (n == -1);
	ck_assert_int_eq(n, 1);
	/* More drops than the pipe takes bytes: the rest is written later. */
	while (write(drops[1], got, 1) == 1)
		;
	for (int i = 0; i < 100; i++)
		log_warnx("%0500d", (int)said++);
	lost = 1;
	ck_assert_int_gt(read(drops[0], got, sizeof(got)), 4000);
	n = read(lines_pipe[0], got, sizeof(got));
	ck_assert_int_gt(n, 0);
	for (ssize_t i = 0; i < n; i++)
		said -= got[i] == '\n';
	ck_assert_int_eq(got[n - 1], '\n');
	log_warnx("room again");
	lost += read(drops[0], got, sizeof(got));
	ck_assert_int_eq(lost, said);
}
END_TEST

/* Control characters in the text, and where a long line is cut. */
START_TEST(no_terminal_obeys)
{
	char	text[2000];
	size_t	len;

	setup(LOG_LEVEL_ERROR);
	errno = EIO;
	log_error("cannot look at /\xc2\x9b" "31mRED\x9b" "0m/\xc3\xa9\x7f");
	ck_assert(strstr(buf_string(&lines), "error: cannot look at "
	    "/??31mRED?0m/\xc3\xa9?: ") != NULL);
	memset(text, 'x', sizeof(text));
	for (len = 900; len < 1100; len++) {
		strcpy(text + len, "\xf0\x9f\x98\x80");
		lines.len = 0;
		log_errorx("%s", text);
		text[len] = 'x';
		ck_assert_msg(strstr(buf_string(&lines), "\xf0\x9f\x98\x80")
		    != NULL || memchr(lines.at, 0xf0, lines.len) == NULL,
		    "cut at %zu", len);
	}
}
END_TEST

START_TEST(one_line)
{
	char	longer[3000];

	setup(LOG_LEVEL_DEBUG);
	log_debug("a\nb\rc\033d");
	ck_assert(strstr(buf_string(&lines), "a?b?c?d\n") != NULL);
	lines.len = 0;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	log_debug("%s", longer);
	ck_assert_uint_lt(lines.len, 1100);
	ck_assert_ptr_eq(memchr(lines.at, '\n', lines.len),
	    lines.at + lines.len - 1);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, levels);
	tcase_add_test(tests, system_error);
	tcase_add_test(tests, advice);
	tcase_add_test(tests, counted_drops);
	tcase_add_test(tests, no_terminal_obeys);
	tcase_add_test(tests, one_line);
}
