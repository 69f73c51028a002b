/*
 * Tests of shared/error_lines: whole lines, no more than the rate, and the
 * last ones of a program that has failed.
 */
#include <stdio.h>
#include <string.h>

#include "lib/str.h"
#include "shared/error_lines.h"
#include "t/unit/unit.h"

static struct error_lines_rate	rate;
static struct buf		out;	/* lines, "|" behind each */
static size_t			nout;

static void
note_line(void *unused, const char *line, size_t len)
{
	(void)unused;
	buf_add(&out, line, len);
	buf_addc(&out, '|');
	nout++;
}

static struct error_lines
new_lines(void)
{
	return (struct error_lines){ .rate = &rate, .put = note_line };
}

static void
set_up(void)
{
	error_lines_fill(&rate, 1000);
}

static void
tear_down(void)
{
	buf_free(&out);
	nout = 0;
}

/* Pieces as they are read, with "|" between them. */
static const struct {
	const char	*pieces, *out;
} cases[] = {
	{ "", "" },
	{ "a\n", "a|" },
	{ "a\nb\n", "a|b|" },
	{ "a|b\nc", "ab|c|" },
	{ "a|\n|b", "a|b|" },
	{ "\n\n\na\n\n", "a|" },
	{ "a\r\n", "a\r|" },
};

START_TEST(puts_whole_lines)
{
	struct error_lines	l = new_lines();
	struct str		rest = str_of(cases[_i].pieces), piece;

	while (rest.len > 0) {
		piece = str_cut(&rest, '|');
		error_lines_add(&l, 1000, piece.at, piece.len);
	}
	error_lines_end(&l, 1000, true);
	ck_assert_str_eq(buf_string(&out), cases[_i].out);
}
END_TEST

START_TEST(splits_a_long_line)
{
	struct error_lines	l = new_lines();
	char			line[2 * ERROR_LINES_MAX + 2];

	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	error_lines_add(&l, 1000, line, sizeof(line));
	error_lines_end(&l, 1000, false);
	ck_assert_uint_eq(nout, 3);
	ck_assert_int_eq(out.at[ERROR_LINES_MAX], '|');
	ck_assert_str_eq(buf_string(&out) + 2 * (ERROR_LINES_MAX + 1), "x|");
}
END_TEST

static void
add_lines(struct error_lines *l, int64_t now, int from, int to)
{
	char	line[20];

	for (int i = from; i < to; i++)
		error_lines_add(l, now, line,
		    (size_t)snprintf(line, sizeof(line), "line %05d\n", i));
}

START_TEST(limits_the_rate)
{
	struct error_lines	l = new_lines();

	add_lines(&l, 1000, 0, 150);
	ck_assert_uint_eq(nout, ERROR_LINES_BURST);
	out.len = 0;
	add_lines(&l, 1050, 150, 151);	/* one token, two are needed */
	ck_assert_uint_eq(nout, ERROR_LINES_BURST);
	add_lines(&l, 1100, 151, 153);
	ck_assert_str_eq(buf_string(&out),
	    "(51 lines of standard error were left out)|line 00151|");
	out.len = 0;
	error_lines_end(&l, 2000, false);
	ck_assert_str_eq(buf_string(&out),
	    "(1 lines of standard error were left out)|");
}
END_TEST

START_TEST(ends_a_failure_with_the_last_lines)
{
	struct error_lines	l = new_lines(), other = new_lines();

	add_lines(&l, 1000, 0, 10000);
	add_lines(&other, 1000, 0, 1);
	nout = out.len = 0;
	error_lines_end(&l, 1000, true);
	/* 11 bytes each; none is cut. */
	ck_assert_uint_eq(nout, 1 + ERROR_LINES_TAIL / 11);
	ck_assert(strncmp(buf_string(&out), "(9529 lines of standard error were "
	    "left out)|line 09628|", 54) == 0);
	ck_assert_str_eq(buf_string(&out) + out.len - 11, "line 09999|");
	/* One such end a second. */
	nout = 0;
	add_lines(&other, 1000, 1, 2);
	error_lines_end(&other, 1000, true);
	ck_assert_uint_eq(nout, 0);
	ck_assert_uint_eq(rate.left_out, 1);
}
END_TEST

/* A request, and what the first of two lines says of it. */
static const struct {
	const char	*target, *host, *out;
} requests[] = {
	{ "", "h.org", "a|b|" },
	{ "/a?b", "h.org", "a (for /a on h.org)|b|" },
	{ "/0123456789012345678901234567890123456789012345678901234567890123456"
	    "7890123456789012345678901234567890123", "h",
	    "a (for /0123456789012345678901234567890123456789012345678901234567"
	    "89012345678901234567890123456789012345678 on h)|b|" },
};

START_TEST(names_the_request_once)
{
	struct error_lines	l = new_lines();

	error_lines_name_request(&l, str_of(requests[_i].target),
	    str_of(requests[_i].host));
	error_lines_add(&l, 1000, "a\nb\n", 4);
	error_lines_end(&l, 1000, false);
	ck_assert_str_eq(buf_string(&out), requests[_i].out);
}
END_TEST

START_TEST(keeps_a_success_short)
{
	struct error_lines	l = new_lines();

	add_lines(&l, 1000, 0, 200);
	nout = out.len = 0;
	error_lines_end(&l, 1000, false);
	ck_assert_uint_eq(nout, 0);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, puts_whole_lines, 0,
	    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tests, splits_a_long_line);
	tcase_add_loop_test(tests, names_the_request_once, 0,
	    (int)(sizeof(requests) / sizeof(requests[0])));
	tcase_add_test(tests, limits_the_rate);
	tcase_add_test(tests, ends_a_failure_with_the_last_lines);
	tcase_add_test(tests, keeps_a_success_short);
}
