/*
 * Tests of helpers/repeat_filter: lines that pass, lines that are counted, and
 * the counts.
 */
#include <stdio.h>
#include <string.h>

#include "helpers/repeat_filter.h"
#include "t/unit/unit.h"

static struct repeat_filter	all;

static bool
hear(const char *line, int64_t now)
{
	return repeat_filter_add(&all, str_of(line), now);
}

static const char *
told(int64_t now)
{
	static char	text[REPEAT_FILTER_LINE_MAX + 200];
	struct str	line;
	uint64_t	more;

	if (!repeat_filter_next(&all, now, &line, &more))
		return "";
	snprintf(text, sizeof(text), "%llu: %.*s", (unsigned long long)more,
	    (int)line.len, line.at);
	return text;
}

#define T(n)	"2026-01-01T00:00:0" #n "+0000 "

START_TEST(how_often)
{
	memset(&all, 0, sizeof(all));
	ck_assert_int_eq(repeat_filter_next_at(&all), 0);
	ck_assert(hear(T(1) "main[7] warn: no luck\n", 1000));
	ck_assert_int_eq(repeat_filter_next_at(&all),
	    1000 + REPEAT_FILTER_INTERVAL);
	ck_assert(!hear(T(2) "main[7] warn: no luck\n", 2000));
	ck_assert(hear(T(2) "main[8] warn: no luck\n", 2000));
	ck_assert(hear(T(2) "main[7] error: no luck\n", 2000));
	ck_assert(!hear(T(3) "main[7] warn: no luck\n", 3000));
	ck_assert_str_eq(told(1000 + REPEAT_FILTER_INTERVAL - 1), "");
	ck_assert_str_eq(told(1000 + REPEAT_FILTER_INTERVAL),
	    "2: " T(3) "main[7] warn: no luck (2 times more)\n");
	ck_assert_int_eq(repeat_filter_next_at(&all),
	    2000 + REPEAT_FILTER_INTERVAL);
	ck_assert_str_eq(told(2000 + REPEAT_FILTER_INTERVAL), "");
	ck_assert_int_eq(repeat_filter_next_at(&all), 0);
	ck_assert(hear(T(9) "main[7] warn: no luck\n", 9000));
}
END_TEST

static const char *
told_before(const char *line)
{
	static char	text[REPEAT_FILTER_LINE_MAX + 200];
	struct str	counted;
	uint64_t	more;

	if (!repeat_filter_before(&all, str_of(line), &counted, &more))
		return "";
	snprintf(text, sizeof(text), "%llu: %.*s", (unsigned long long)more,
	    (int)counted.len, counted.at);
	return text;
}

/* What a process says next comes behind its counts, and those go on. */
START_TEST(in_order)
{
	static const char	next[] = T(3) "monitor[7] notice: read again\n";

	memset(&all, 0, sizeof(all));
	ck_assert(hear(T(1) "monitor[7] error: no luck\n", 1000));
	ck_assert_str_eq(told_before(next), "");
	ck_assert(!hear(T(2) "monitor[7] error: no luck\n", 2000));
	ck_assert(!hear(T(2) "monitor[7] error: no luck\n", 2000));
	ck_assert_str_eq(told_before(T(3) "main[7] notice: x\n"), "");
	ck_assert_str_eq(told_before(T(3) "monitor[77] notice: x\n"), "");
	ck_assert_str_eq(told_before("monitor[7] notice: no time\n"), "");
	ck_assert_str_eq(told_before("no such thing\n"), "");
	ck_assert(hear(next, 3000));
	ck_assert_str_eq(told_before(next),
	    "2: " T(2) "monitor[7] error: no luck (2 times more)\n");
	ck_assert_str_eq(told_before(next), "");
	ck_assert(!hear(T(4) "monitor[7] error: no luck\n", 4000));
	ck_assert_str_eq(told(1000 + REPEAT_FILTER_INTERVAL),
	    "1: " T(4) "monitor[7] error: no luck (1 time more)\n");
	ck_assert_str_eq(told(INT64_MAX), "");
}
END_TEST

/* Notices, and lines of others, pass. */
START_TEST(not_counted)
{
	static const char *const	lines[] = {
		T(1) "monitor[7] notice: the logs have been opened again\n",
		T(1) "main[7] info: 404 for /x: warn: error: x\n",
		"main[7] warn: without a time\n",
		T(1) "main[7] warn: without an end",
		T(1) "\n", "1\n", "\n", " \n", "no such thing\n",
		"2026-01-01T00:00:01+0000+0000+0000+0000 main[7] warn: long\n",
	};

	memset(&all, 0, sizeof(all));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		ck_assert_msg(hear(lines[i], 1), "%s", lines[i]);
		ck_assert_msg(hear(lines[i], 2), "%s", lines[i]);
	}
	ck_assert_uint_eq(all.n, 0);
}
END_TEST

/* More lines than the filter has room for: each one passes or is counted. */
START_TEST(many)
{
	char		line[100];
	struct str	out;
	uint64_t	written = 0, counted = 0, more;

	memset(&all, 0, sizeof(all));
	for (int i = 0; i < 10000; i++) {
		snprintf(line, sizeof(line), T(1) "main[7] warn: %d\n",
		    i % 7 == 0 ? i : i % 11);
		written += hear(line, i);
		while (repeat_filter_next(&all, i, &out, &more))
			counted += more;
	}
	while (repeat_filter_next(&all, INT64_MAX, &out, &more))
		counted += more;
	ck_assert_uint_eq(written + counted, 10000);
	ck_assert_uint_gt(counted, 0);
	ck_assert_uint_eq(all.n, 0);
}
END_TEST

START_TEST(longest)
{
	char	line[REPEAT_FILTER_LINE_MAX + 100];

	memset(&all, 0, sizeof(all));
	memset(line, 'x', sizeof(line));
	memcpy(line, T(1) "main[7] warn: ", strlen(T(1)) + 14);
	for (size_t end = sizeof(line) - 2; end > 900; end--) {
		line[end] = '\n';
		line[end + 1] = '\0';
		ck_assert(hear(line, 1));
		if (hear(line, 1))
			continue;
		ck_assert_uint_eq(strlen(told(INT64_MAX)), strlen("1: ") +
		    end + 1 + strlen(" (1 time more)"));
		return;
	}
	ck_abort_msg("none is kept");
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_test(tests, how_often);
	tcase_add_test(tests, in_order);
	tcase_add_test(tests, not_counted);
	tcase_add_test(tests, many);
	tcase_add_test(tests, longest);
}
