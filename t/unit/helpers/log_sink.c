/*
 * Tests of helpers/log_sink: lines stay whole if a write takes a part.
 */
#include <sys/resource.h>

#include <limits.h>
#include <signal.h>

#include "helpers/log_sink.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

static void
limit(rlim_t bytes)
{
	struct rlimit	l;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &l), 0);
	l.rlim_cur = bytes;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &l), 0);
}

/* A partial line gets one newline before the next line. */
START_TEST(torn)
{
	struct log_sink	o = { 0 };
	size_t		done = 0;

	o.fd = open(tree_path("torn"), O_WRONLY | O_APPEND | O_CREAT, 0600);
	limit(6);
	ck_assert_int_eq(log_sink_write(&o, "one\ntwo\n", 8, &done), -1);
	ck_assert_int_eq(errno, EFBIG);
	ck_assert_uint_eq(done, 6);
	done = 0;
	ck_assert_int_eq(log_sink_write(&o, "no\n", 3, &done), -1);
	ck_assert_uint_eq(done, 0);
	limit(RLIM_INFINITY);
	ck_assert_int_eq(log_sink_write(&o, "", 0, &done), 0);
	ck_assert_int_eq(log_sink_write(&o, "three\n", 6, &done), 0);
	ck_assert_uint_eq(done, 6);
	done = 0;
	ck_assert_int_eq(log_sink_write(&o, "four\n", 5, &done), 0);
	ck_assert_str_eq(tree_text("torn"), "one\ntw\nthree\nfour\n");
	close(o.fd);
}
END_TEST

/* A write that ends with a line needs no newline. */
START_TEST(cut_between)
{
	struct log_sink	o = { 0 };
	size_t		done = 0;

	o.fd = open(tree_path("between"), O_WRONLY | O_APPEND | O_CREAT, 0600);
	limit(4);
	ck_assert_int_eq(log_sink_write(&o, "one\ntwo\n", 8, &done), -1);
	ck_assert_uint_eq(done, 4);
	limit(RLIM_INFINITY);
	done = 0;
	ck_assert_int_eq(log_sink_write(&o, "two\n", 4, &done), 0);
	ck_assert_str_eq(tree_text("between"), "one\ntwo\n");
	close(o.fd);
}
END_TEST

/* A full pipe has only whole lines. */
START_TEST(full_pipe)
{
	static char	lines[200 * 1000], got[sizeof(lines)];
	struct log_sink	o = { 0 };
	size_t		done = 0;
	int		fd[2];

	for (size_t i = 0; i < sizeof(lines); i++)
		lines[i] = i % 1000 == 999 ? '\n' : 'x';
	ck_assert_int_eq(pipe2(fd, O_NONBLOCK), 0);
	o.fd = fd[1];
	ck_assert_int_eq(log_sink_write(&o, lines, sizeof(lines), &done), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_uint_gt(done, 0);
	ck_assert_uint_eq(done % 1000, 0);
	ck_assert_int_eq(read(fd[0], got, sizeof(got)), done);
	ck_assert(!o.partial_line);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

/* A line that a pipe takes in part is continued, so that no text of a client
 * begins a line. */
START_TEST(long_line)
{
	static char	line[3 * 1024 * 1024], got[64 * 1024];
	struct log_sink	o = { 0 };
	size_t		done = 0, all = 0, ends = 0;
	int		fd[2], result, tries = 0;
	ssize_t		n;

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\n';
	ck_assert_int_eq(pipe2(fd, O_NONBLOCK), 0);
	o.fd = fd[1];
	do {
		result = log_sink_write(&o, line, sizeof(line), &done);
		ck_assert(result == 0 || errno == EAGAIN);
		ck_assert(o.partial_line == (result == -1));
		while ((n = read(fd[0], got, sizeof(got))) > 0) {
			all += (size_t)n;
			ends += memchr(got, '\n', (size_t)n) != NULL;
		}
		tries++;
	} while (result == -1);
	ck_assert_int_gt(tries, 1);
	ck_assert_uint_eq(all, sizeof(line));
	ck_assert_uint_eq(ends, 1);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

/* A pipe without a reader: the rest of the line is dropped, and the next write
 * begins a line. */
START_TEST(long_line_given_up)
{
	static char	line[3 * 1024 * 1024], got[sizeof(line)];
	struct log_sink	o = { 0 };
	size_t		done = 0;
	int		fd[2];

	memset(line, 'x', sizeof(line));
	ck_assert_int_eq(pipe2(fd, O_NONBLOCK), 0);
	o.fd = fd[1];
	ck_assert_int_eq(log_sink_write(&o, line, sizeof(line), &done), -1);
	ck_assert_int_eq(log_sink_write(&o, line, sizeof(line), &done), -1);
	ck_assert_int_eq(read(fd[0], got, sizeof(got)), done);
	done = 0;
	ck_assert_int_eq(log_sink_write(&o, "next\n", 5, &done), 0);
	ck_assert_int_eq(read(fd[0], got, sizeof(got)), 6);
	ck_assert_int_eq(memcmp(got, "\nnext\n", 6), 0);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_unchecked_fixture(tests, tree_begin, tree_end);
	tcase_add_test(tests, torn);
	tcase_add_test(tests, cut_between);
	tcase_add_test(tests, full_pipe);
	tcase_add_test(tests, long_line);
	tcase_add_test(tests, long_line_given_up);
}
