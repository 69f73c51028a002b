/*
 * Unit test of proto/date.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "proto/date.h"
#include "t/unit/unit.h"

#define NOW	1700000000		/* Tue, 14 Nov 2023 22:13:20 GMT */

static const struct {
	time_t		 t;
	const char	*want, *log;
} formats[] = {
	{ 784111777, "Sun, 06 Nov 1994 08:49:37 GMT",
	    "06/Nov/1994:08:49:37 +0000" },
	{ 0, "Thu, 01 Jan 1970 00:00:00 GMT",
	    "01/Jan/1970:00:00:00 +0000" },
	{ -1, "Wed, 31 Dec 1969 23:59:59 GMT",
	    "31/Dec/1969:23:59:59 +0000" },
	{ 951782400, "Tue, 29 Feb 2000 00:00:00 GMT",
	    "29/Feb/2000:00:00:00 +0000" },
	{ 2147483648, "Tue, 19 Jan 2038 03:14:08 GMT",
	    "19/Jan/2038:03:14:08 +0000" },
	{ 4107542399, "Sun, 28 Feb 2100 23:59:59 GMT",
	    "28/Feb/2100:23:59:59 +0000" },
	{ 4107542400, "Mon, 01 Mar 2100 00:00:00 GMT",
	    "01/Mar/2100:00:00:00 +0000" },
	{ 253402300799, "Fri, 31 Dec 9999 23:59:59 GMT",
	    "31/Dec/9999:23:59:59 +0000" },
	/* Beyond four digits: the nearest date that has them. */
	{ 253402300800, "Fri, 31 Dec 9999 23:59:59 GMT",
	    "31/Dec/9999:23:59:59 +0000" },
	{ LONG_MAX, "Fri, 31 Dec 9999 23:59:59 GMT",
	    "31/Dec/9999:23:59:59 +0000" },
	{ LONG_MIN, "Sat, 01 Jan 0000 00:00:00 GMT",
	    "01/Jan/0000:00:00:00 +0000" },
};

START_TEST(format)
{
	char	out[DATE_LENGTH + 1];

	memset(out, '#', sizeof(out));
	date_format(formats[_i].t, out);
	ck_assert_int_eq(out[DATE_LENGTH], '#');
	out[DATE_LENGTH] = '\0';
	ck_assert_str_eq(out, formats[_i].want);

	memset(out, '#', sizeof(out));
	date_format_log(formats[_i].t, out);
	ck_assert_int_eq(out[DATE_LOG_LENGTH], '#');
	out[DATE_LOG_LENGTH] = '\0';
	ck_assert_str_eq(out, formats[_i].log);
}
END_TEST

/* Against the system's calendar, and back; every 65 days for 10000 years. */
START_TEST(calendar)
{
	char		out[DATE_LENGTH + 1], want[64];
	struct tm	tm;
	time_t		t, back = 0;

	for (t = -62167219200; t < 253402300800; t += 5624479) {
		date_format(t, out);
		out[DATE_LENGTH] = '\0';
		ck_assert_ptr_nonnull(gmtime_r(&t, &tm));
		strftime(want, sizeof(want), "%a, %d %b ", &tm);
		snprintf(want + strlen(want), 32, "%04d %02d:%02d:%02d GMT",
		    tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
		ck_assert_str_eq(out, want);
		ck_assert(date_parse(str_of(out), NOW, &back));
		ck_assert_int_eq(back, t);
	}
}
END_TEST

static const struct {
	const char	*text;
	time_t		 want;
} dates[] = {
	{ "Sun, 06 Nov 1994 08:49:37 GMT", 784111777 },
	{ "Sunday, 06-Nov-94 08:49:37 GMT", 784111777 },
	{ "Sun Nov  6 08:49:37 1994", 784111777 },
	{ "Wed Nov 16 08:49:37 1994", 784975777 },
	{ "Mon, 06 Nov 1994 08:49:37 GMT", 784111777 },	/* not a Monday */
	{ "Tue, 29 Feb 2000 00:00:00 GMT", 951782400 },
	{ "Thu, 31 Dec 1998 23:59:60 GMT", 915148800 },	/* leap second */
	{ "Fri, 31 Dec 9999 23:59:59 GMT", 253402300799 },
	{ "Wed, 31 Dec 1969 23:59:59 GMT", -1 },
	{ "Sat, 01 Jan 0000 00:00:00 GMT", -62167219200 },
	/* At most 50 years from now, to the second. */
	{ "Tuesday, 14-Nov-73 22:13:20 GMT", 3277923200 },	/* 2073 */
	{ "Wednesday, 14-Nov-73 22:13:21 GMT", 122163201 },	/* 1973 */
	{ "Monday, 31-Dec-73 00:00:00 GMT", 126144000 },	/* 1973 */
	{ "Sunday, 01-Jan-00 00:00:00 GMT", 946684800 },	/* 2000 */
	{ "Tuesday, 29-Feb-72 00:00:00 GMT", 3223929600 },	/* 2072 */
	{ "Friday, 31-Dec-99 23:59:59 GMT", 946684799 },	/* 1999 */
};

START_TEST(parse)
{
	time_t	t = 0;

	ck_assert_msg(date_parse(str_of(dates[_i].text), NOW, &t), "%s",
	    dates[_i].text);
	ck_assert_msg(t == dates[_i].want, "%s gives %lld", dates[_i].text,
	    (long long)t);
}
END_TEST

static const char *const nonsense[] = {
	"",
	" ",
	"0",
	"yesterday",
	"784111777",
	"Sun, 06 Nov 1994 08:49:37",
	"Sun, 06 Nov 1994 08:49:37 ",
	"Sun, 06 Nov 1994 08:49:37 UTC",
	"Sun, 06 Nov 1994 08:49:37 gmt",
	"Sun, 06 Nov 1994 08:49:37 GMT ",
	"Sun, 06 Nov 1994 08:49:37 GMT; length=5",
	" Sun, 06 Nov 1994 08:49:37 GMT",
	"Sun,  06 Nov 1994 08:49:37 GMT",
	"Sun, 6 Nov 1994 08:49:37 GMT",
	"Sun,  6 Nov 1994 08:49:37 GMT",
	"Sun, 06 Nov 94 08:49:37 GMT",
	"Sun, 06 nov 1994 08:49:37 GMT",
	"Sun, 06 Nox 1994 08:49:37 GMT",
	"Sux, 06 Nov 1994 08:49:37 GMT",
	"Sunday, 06 Nov 1994 08:49:37 GMT",
	"Sun, 06-Nov-94 08:49:37 GMT",
	"Sunday, 06-Nov-1994 08:49:37 GMT",
	"Sun, 00 Nov 1994 08:49:37 GMT",
	"Sun, 31 Nov 1994 08:49:37 GMT",
	"Sun, 29 Feb 1900 08:49:37 GMT",
	"Sun, 29 Feb 2023 08:49:37 GMT",
	"Sun, 06 Nov 1994 24:49:37 GMT",
	"Sun, 06 Nov 1994 08:60:37 GMT",
	"Sun, 06 Nov 1994 08:49:61 GMT",
	"Sun, 06 Nov 1994 8:49:37 GMT",
	"Sun, 06 Nov 1994 08:49 GMT",
	"Sun, -6 Nov 1994 08:49:37 GMT",
	"Sun, +6 Nov 1994 08:49:37 GMT",
	"Sun Nov 6 08:49:37 1994",
	"Sun Nov 06 08:49:37 94",
	"Sun Nov  6 08:49:37 1994 GMT",
	"Sun Nov  0 08:49:37 1994",
	"Sun Feb 30 08:49:37 1994",
	"\"Sun, 06 Nov 1994 08:49:37 GMT\"",
};

START_TEST(refuse)
{
	time_t	t = 42;

	ck_assert_msg(!date_parse(str_of(nonsense[_i]), NOW, &t), "%s",
	    nonsense[_i]);
	ck_assert_int_eq(t, 42);
}
END_TEST

/* No prefix of a date is a date. */
START_TEST(prefixes)
{
	time_t	t;

	for (int i = 0; i < 3; i++) {
		struct str	s = str_of(dates[i].text);

		while (s.len-- > 0)
			ck_assert(!date_parse(s, NOW, &t));
	}
}
END_TEST

/* Two digits at clocks that are far off. */
START_TEST(odd_clocks)
{
	struct str	s = STR("Sunday, 06-Nov-94 08:49:37 GMT");
	time_t		t = 0;

	ck_assert(date_parse(s, LONG_MIN, &t));
	ck_assert_int_eq(t, -59174032223);		/* 0094 */
	ck_assert(date_parse(s, LONG_MAX, &t));
	ck_assert_int_eq(t, 253239727777);		/* 9994 */
	ck_assert(date_parse(s, 0, &t));
	ck_assert_int_eq(t, 784111777);			/* 1994, from 1970 */
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, format, 0,
	    (int)(sizeof(formats) / sizeof(formats[0])));
	tcase_add_test(t, calendar);
	tcase_add_loop_test(t, parse, 0,
	    (int)(sizeof(dates) / sizeof(dates[0])));
	tcase_add_loop_test(t, refuse, 0,
	    (int)(sizeof(nonsense) / sizeof(nonsense[0])));
	tcase_add_test(t, prefixes);
	tcase_add_test(t, odd_clocks);
}
