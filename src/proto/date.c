/*
 * date: HTTP dates.
 *
 * Computes with days: gmtime() and its kin read the file of a time zone, which
 * a main without file system does not have.
 */
#include <stdint.h>
#include <string.h>

#include "proto/date.h"

#define DAY_SECONDS		((int64_t)86400)
#define EARLIEST		((int64_t)-62167219200)	/* start of year 0 */
#define LATEST		((int64_t)253402300799)	/* end of year 9999 */

struct civil {
	int	year, month, day;	/* month and day from 1 */
	int	hour, minute, second;
	int	weekday;		/* 0 is Sunday */
};

static const char *const weekdays[] = {
	"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday",
	"Saturday"
};

static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

static bool
is_leap_year(int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int
month_days(int year, int month)
{
	static const int	days[] = {
		31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
	};

	return days[month - 1] + (month == 2 && is_leap_year(year));
}

/* Days from the start of year 0 to the start of a year >= 0. */
static int64_t
year_start(int year)
{
	int	before = year - 1;	/* the last whole year */

	if (year == 0)
		return 0;
	return 365 * (int64_t)year + before / 4 - before / 100 +
	    before / 400 + 1;		/* year 0 was a leap year */
}

static int64_t
seconds_of(const struct civil *c)
{
	int64_t	days = year_start(c->year) + c->day - 1;

	for (int month = 1; month < c->month; month++)
		days += month_days(c->year, month);
	return EARLIEST + days * DAY_SECONDS + c->hour * 3600 + c->minute * 60 +
	    c->second;
}

/* The nearest time whose year has four digits. */
static int64_t
clamp_time(time_t t)
{
	if (t < EARLIEST)
		return EARLIEST;
	return t > LATEST ? LATEST : t;
}

static struct civil
civil_of(time_t t)
{
	struct civil	c = { .month = 1 };
	int64_t		seconds = clamp_time(t) - EARLIEST;
	int64_t		days = seconds / DAY_SECONDS;

	seconds %= DAY_SECONDS;
	c.hour = (int)(seconds / 3600);
	c.minute = (int)(seconds / 60 % 60);
	c.second = (int)(seconds % 60);
	c.weekday = (int)((days + 6) % 7);	/* the first was a Saturday */

	c.year = (int)(days / 366);		/* or some years later */
	while (year_start(c.year + 1) <= days)
		c.year++;
	days -= year_start(c.year);
	while (days >= month_days(c.year, c.month))
		days -= month_days(c.year, c.month++);
	c.day = (int)days + 1;
	return c;
}

/* Writes a number with leading zeros; returns the end. */
static char *
put_number(char *out, int number, int digits)
{
	for (int i = digits - 1; i >= 0; i--) {
		out[i] = (char)('0' + number % 10);
		number /= 10;
	}
	return out + digits;
}

static char *
put_text(char *out, const char *text, size_t len)
{
	memcpy(out, text, len);
	return out + len;
}

static char *
put_time(char *out, const struct civil *c)
{
	out = put_number(out, c->hour, 2);
	*out++ = ':';
	out = put_number(out, c->minute, 2);
	*out++ = ':';
	return put_number(out, c->second, 2);
}

void
date_format(time_t t, char *out)
{
	struct civil	c = civil_of(t);

	out = put_text(out, weekdays[c.weekday], 3);
	out = put_text(out, ", ", 2);
	out = put_number(out, c.day, 2);
	*out++ = ' ';
	out = put_text(out, months + 3 * (c.month - 1), 3);
	*out++ = ' ';
	out = put_number(out, c.year, 4);
	*out++ = ' ';
	out = put_time(out, &c);
	put_text(out, " GMT", 4);
}

void
date_format_log(time_t t, char *out)
{
	struct civil	c = civil_of(t);

	out = put_number(out, c.day, 2);
	*out++ = '/';
	out = put_text(out, months + 3 * (c.month - 1), 3);
	*out++ = '/';
	out = put_number(out, c.year, 4);
	*out++ = ':';
	out = put_time(out, &c);
	put_text(out, " +0000", 6);
}

/* Cuts a number of a fixed count of digits off the front. */
static bool
take_number(struct str *s, size_t digits, int *number)
{
	int	n = 0;

	if (s->len < digits)
		return false;
	for (size_t i = 0; i < digits; i++) {
		if (s->at[i] < '0' || s->at[i] > '9')
			return false;
		n = n * 10 + s->at[i] - '0';
	}
	str_skip(s, digits);
	*number = n;
	return true;
}

/* Cuts a day of two places, blank or digit first, off the front. */
static bool
take_padded(struct str *s, int *day)
{
	if (s->len == 0 || s->at[0] != ' ')
		return take_number(s, 2, day);
	str_skip(s, 1);
	return take_number(s, 1, day);
}

static bool
take_text(struct str *s, const char *text, size_t len)
{
	if (!str_starts(*s, (struct str){ text, len }))
		return false;
	str_skip(s, len);
	return true;
}

/* A wrong day of the week is accepted. */
static bool
take_weekday(struct str *s, bool full)
{
	for (size_t i = 0; i < 7; i++)
		if (take_text(s, weekdays[i], full ? strlen(weekdays[i]) : 3))
			return true;
	return false;
}

static bool
take_month(struct str *s, int *month)
{
	for (int i = 0; i < 12; i++) {
		if (take_text(s, months + 3 * i, 3)) {
			*month = i + 1;
			return true;
		}
	}
	return false;
}

/*
 * Reads one item of a pattern: as strptime(3), but of fixed width, in English,
 * and exact.  A two-digit year is left as it is.
 */
static bool
take_item(struct str *s, char item, struct civil *c)
{
	switch (item) {
	case 'A':
		return take_weekday(s, true);
	case 'a':
		return take_weekday(s, false);
	case 'b':
		return take_month(s, &c->month);
	case 'd':
		return take_number(s, 2, &c->day);
	case 'e':
		return take_padded(s, &c->day);
	case 'T':
		return take_number(s, 2, &c->hour) && take_text(s, ":", 1) &&
		    take_number(s, 2, &c->minute) && take_text(s, ":", 1) &&
		    take_number(s, 2, &c->second);
	case 'Y':
		return take_number(s, 4, &c->year);
	case 'y':
		return take_number(s, 2, &c->year);
	default:
		return false;
	}
}

static bool
match_pattern(struct str s, const char *pattern, struct civil *c)
{
	for (; *pattern != '\0'; pattern++) {
		if (*pattern == '%') {
			if (!take_item(&s, *++pattern, c))
				return false;
		} else if (!take_text(&s, pattern, 1))
			return false;
	}
	return s.len == 0;
}

static bool
is_valid(const struct civil *c)
{
	return c->day >= 1 && c->day <= month_days(c->year, c->month) &&
	    c->hour <= 23 && c->minute <= 59 &&
	    c->second <= 60;	/* a leap second: the next minute's first */
}

/* Completes two digits to the latest year that is at most 50 years from now. */
static void
complete_year(struct civil *c, time_t now)
{
	int	digits = c->year;

	c->year = civil_of(now).year / 100 * 100 + 100 + digits;
	for (;;) {
		struct civil	earlier = *c;

		earlier.year -= 50;
		if (earlier.year < 50 ||
		    seconds_of(&earlier) <= clamp_time(now))
			break;
		c->year -= 100;
	}
}

bool
date_parse(struct str s, time_t now, time_t *t)
{
	struct civil	c;

	if (match_pattern(s, "%A, %d-%b-%y %T GMT", &c))
		complete_year(&c, now);
	else if (!match_pattern(s, "%a, %d %b %Y %T GMT", &c) &&
	    !match_pattern(s, "%a %b %e %T %Y", &c))
		return false;
	if (!is_valid(&c))
		return false;
	*t = (time_t)seconds_of(&c);
	return true;
}
