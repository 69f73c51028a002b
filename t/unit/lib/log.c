/*
 * Tests of lib/log: grades, one line a call, errno.
 */
#include <errno.h>
#include <string.h>

#include "lib/buf.h"
#include "lib/log.h"
#include "t/unit/unit.h"

static struct buf	lines;

static void
take(void *context, const char *line, size_t n)
{
	ck_assert_ptr_eq(context, &lines);
	buf_add(&lines, line, n);
}

static void
setup(enum log_grade grade)
{
	log_init("test", grade);
	log_sink(take, &lines);
}

START_TEST(grades)
{
	setup(LOG_GRADE_WARN);
	log_notice("not this");
	ck_assert_uint_eq(lines.len, 0);
	log_warnx("but %s", "this");
	ck_assert(strstr(buf_string(&lines), " test[") != NULL);
	ck_assert(strstr(lines.at, "] warn: but this\n") != NULL);
}
END_TEST

START_TEST(system_error)
{
	setup(LOG_GRADE_ERROR);
	errno = ENOENT;
	log_error("open");
	ck_assert_int_eq(errno, ENOENT);
	ck_assert(strstr(buf_string(&lines),
	    "error: open: No such file or directory\n") != NULL);
}
END_TEST

START_TEST(one_line)
{
	char	longer[3000];

	setup(LOG_GRADE_DEBUG);
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
	tcase_add_test(tests, grades);
	tcase_add_test(tests, system_error);
	tcase_add_test(tests, one_line);
}
