/*
 * Tests of outlet: lines stay whole where a log takes a part.
 */
#include <sys/resource.h>

#include <limits.h>
#include <signal.h>

#include "helpers/outlet.h"
#include "t/unit/helpers/tree.h"
#include "t/unit/unit.h"

static const char *
content(const char *name)
{
	static char	text[256];
	FILE		*f = fopen(tree_path(name), "r");

	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

static void
limit(rlim_t bytes)
{
	struct rlimit	l;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &l), 0);
	l.rlim_cur = bytes;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &l), 0);
}

/* What was cut short has a line of its own, once. */
START_TEST(torn)
{
	struct outlet	o = { 0 };
	size_t		done;

	o.fd = open(tree_path("torn"), O_WRONLY | O_APPEND | O_CREAT, 0600);
	limit(6);
	ck_assert_int_eq(outlet_write(&o, "one\ntwo\n", 8, &done), -1);
	ck_assert_int_eq(errno, EFBIG);
	ck_assert_uint_eq(done, 6);
	ck_assert_int_eq(outlet_write(&o, "no\n", 3, &done), -1);
	ck_assert_uint_eq(done, 0);
	limit(RLIM_INFINITY);
	ck_assert_int_eq(outlet_write(&o, "", 0, &done), 0);
	ck_assert_int_eq(outlet_write(&o, "three\n", 6, &done), 0);
	ck_assert_uint_eq(done, 6);
	ck_assert_int_eq(outlet_write(&o, "four\n", 5, &done), 0);
	ck_assert_str_eq(content("torn"), "one\ntw\nthree\nfour\n");
	close(o.fd);
}
END_TEST

/* What ends with a line needs no end. */
START_TEST(cut_between)
{
	struct outlet	o = { 0 };
	size_t		done;

	o.fd = open(tree_path("between"), O_WRONLY | O_APPEND | O_CREAT, 0600);
	limit(4);
	ck_assert_int_eq(outlet_write(&o, "one\ntwo\n", 8, &done), -1);
	ck_assert_uint_eq(done, 4);
	limit(RLIM_INFINITY);
	ck_assert_int_eq(outlet_write(&o, "two\n", 4, &done), 0);
	ck_assert_str_eq(content("between"), "one\ntwo\n");
	close(o.fd);
}
END_TEST

/* A pipe that is full has taken whole lines. */
START_TEST(full_pipe)
{
	static char	lines[200 * 1000], got[sizeof(lines)];
	struct outlet	o = { 0 };
	size_t		done;
	int		fd[2];

	for (size_t i = 0; i < sizeof(lines); i++)
		lines[i] = i % 1000 == 999 ? '\n' : 'x';
	ck_assert_int_eq(pipe2(fd, O_NONBLOCK), 0);
	o.fd = fd[1];
	ck_assert_int_eq(outlet_write(&o, lines, sizeof(lines), &done), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_uint_gt(done, 0);
	ck_assert_uint_eq(done % 1000, 0);
	ck_assert_int_eq(read(fd[0], got, sizeof(got)), done);
	ck_assert(!o.torn);
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
}
