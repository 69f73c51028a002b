/*
 * Unit test of ampedctl/screen.
 */
#include <string.h>

#include "ampedctl/screen.h"
#include "t/unit/unit.h"

static const char	some[] =
    "version 9.8\nuptime 93784\nstarted 1000\nloaded 94700\ngeneration 3\n"
    "main-deaths 1\ndraining 0\nrequests 1234567\nbytes 5368709120\n"
    "bytes-in 1023\nstatus-2xx 1200000\nstatus-4xx 99999\n"
    "open-connections 1\nopen-connections-limit 14872\nconnections-idle 1\n"
    "pathname-hits 999\npathname-misses 1\npathname-entries 25000\n"
    "pathname-entries-limit 50000\npathname-bytes 100\n"
    "pathname-bytes-limit 25600000\n"
    "workers 2\nworkers-max 4\nloop-utilisation 0.791234\nworkers-added 3\n"
    "workers-retired 2\nhelpers-load 30.250000\n"
    "helpers-limit 32\nbusy-helpers 30\nstuck-helpers 2\nidle-helpers 0\n"
    "job-resolve-median 0.000049\njob-read-median 0.0123\n"
    "loop-lag-median 0.0016\nloop-lag-p99 1.5\nloop-lag-max 12\n"
    "fs-8:1-queued 5\nfs-8:1-helpers 8\nfs-8:1-limit 16\n"
    "fs-8:2-queued 0\nfs-8:2-helpers 0\nfs-8:2-limit 16\n";

static struct buf	text;

static const char *
shown(const char *now, const char *before, size_t columns, size_t lines)
{
	struct metrics	n, b;
	struct buf	in = { 0 };

	buf_adds(&in, now);
	metrics_parse(&n, &in);
	in.len = 0;
	buf_adds(&in, before != NULL ? before : "");
	metrics_parse(&b, &in);
	buf_free(&in);
	text.len = 0;
	screen_draw(&text, &n, before != NULL ? &b : NULL, 2, columns, lines);
	metrics_free(&n);
	metrics_free(&b);
	return buf_string(&text);
}

static void
has(const char *line)
{
	ck_assert_msg(strstr(buf_string(&text), line) != NULL,
	    "there is no \"%s\" in:\n%s", line, buf_string(&text));
}

static void
clear(void)
{
	buf_free(&text);
}

START_TEST(once)
{
	shown(some, NULL, 80, 100);
	has("amped 9.8   up 1d 2h   conf 3, for 0:01:24   main died 1 times\n");
	has("requests      1.2M  2xx 1.2M  3xx 0  4xx 99999  5xx 0  aborted 0");
	has("sent          5.0G  received   1023\n");
	has("connections      1 of 14872  [#....");
	has("  pathname   25000      100");
	has("[######......]   99.9% [###");
	has("helpers         30 busy 0 idle 2 stuck of 32 [####");
	has("workers          2 of 4, loops busy 79%; 3 added, 2 retired");
	has("0 too late; they keep 30.2 busy");
	has("0 lookups 49 us each  0 reads 12 ms each");
	has("loop lag    median 1.6 ms, 99% 1.5 s, most 12.0 s");
	has("  fs 8:1            8 of 16 helpers, 5 wait [####");
	ck_assert_msg(strstr(text.at, "8:2") == NULL, "%s", text.at);
	ck_assert_msg(strstr(text.at, "/s") == NULL, "%s", text.at);
}
END_TEST

/* Whether there should be more helpers, by their load. */
START_TEST(helpers)
{
	const char	*advice = "jobs wait: a higher helpers max saves time";

	shown("helpers-limit 32\nhelpers-load 31.900000\n", NULL, 120, 100);
	has("they keep 31.9 busy");
	ck_assert_msg(strstr(text.at, advice) == NULL, "%s", text.at);
	shown("helpers-limit 32\nhelpers-load 32.000000\n", NULL, 80, 100);
	has(advice);
	shown("helpers-limit 0\nhelpers-load 0.000000\n", NULL, 120, 100);
	ck_assert_msg(strstr(text.at, advice) == NULL, "%s", text.at);
}
END_TEST

START_TEST(rates)
{
	shown("requests 1250\nbytes 22528\nbytes-in 10\nhelpers-limit 1\n"
	    "header-hits 13\nheader-misses 11\nlookups 5\n",
	    "requests 1000\nbytes 2048\nbytes-in 10\nheader-hits 10\n"
	    "header-misses 10\nlookups 4\n", 80, 100);
	has("requests      1250    125/s");
	has("sent         22.0K  10.0K/s  received     10      0/s");
	has("75.0%");
	has("5 lookups    0.5/s");
	/* Another main: nothing was taken back. */
	shown("requests 3\n", "requests 1000\n", 80, 100);
	has("requests         3      0/s");
}
END_TEST

/* However narrow or low: no line too many, none too wide. */
START_TEST(sizes)
{
	for (size_t columns = 1; columns < 300; columns += 13)
		for (size_t lines = 0; lines < 30; lines++) {
			const char	*at = shown(some, some, columns, lines);
			size_t		 n = 0;

			for (; *at != '\0'; n++) {
				ck_assert_uint_le(strcspn(at, "\n"),
				    columns < SCREEN_COLUMNS_MIN ?
				    SCREEN_COLUMNS_MIN : columns);
				at += strcspn(at, "\n") + 1;
			}
			ck_assert_uint_le(n, lines);
		}
	shown(some, some, SCREEN_COLUMNS, SCREEN_LINES_MIN);
	has("over rate\n");
	has("\n\n");
	/* One line fewer: those that are blank go first. */
	shown(some, some, SCREEN_COLUMNS, SCREEN_LINES_MIN - 1);
	has("over rate\n");
	ck_assert_ptr_null(strstr(text.at, "\n\n"));
}
END_TEST

/* A narrow screen has all that a wide one has, but bars and evictions. */
START_TEST(narrow)
{
	shown(some, NULL, 40, 100);
	has("amped 9.8   up 1d 2h\n    conf 3, for 0:01:24\n"
	    "    main died 1 times\n");
	has("requests      1.2M  2xx 1.2M  3xx 0\n"
	    "    4xx 99999  5xx 0  aborted 0\n");
	has("connections      1 of 14872  [#........]\n");
	has("caches     entries    bytes    hits\n"
	    "  pathname   25000      100   99.9%\n");
	has("  file           0        0       -\n");
	has("loop lag    median 1.6 ms, 99% 1.5 s,\n    most 12.0 s\n");
}
END_TEST

START_TEST(nothing_known)
{
	shown("", NULL, 80, 100);
	has("amped    up 0:00:00");
	has("helpers       none");
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, NULL, clear);
	tcase_add_test(tests, once);
	tcase_add_test(tests, helpers);
	tcase_add_test(tests, rates);
	tcase_add_test(tests, sizes);
	tcase_add_test(tests, narrow);
	tcase_add_test(tests, nothing_known);
}
