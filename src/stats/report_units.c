/*
 * report_units: numbers, most of them for people.
 */
#include <inttypes.h>

#include "stats/report_private.h"

void
report_count(struct buf *to, uint64_t n)
{
	if (n >= 1000) {
		report_count(to, n / 1000);
		buf_addf(to, ",%03u", (unsigned)(n % 1000));
	} else
		buf_addf(to, "%u", (unsigned)n);
}

/* At least two digits: 1.2, 12, 123. */
static void
add_scaled(struct buf *to, uint64_t tenths, const char *unit)
{
	if (tenths < 100 && tenths % 10 != 0)
		buf_addf(to, "%" PRIu64 ".%" PRIu64, tenths / 10, tenths % 10);
	else
		buf_addf(to, "%" PRIu64, tenths / 10);
	buf_addf(to, " %s", unit);
}

void
report_bytes(struct buf *to, uint64_t n)
{
	static const char *const	units[] = {
		"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"
	};
	int				i = 0;
	uint64_t			part = 0;

	for (; n >= 1024; n /= 1024, i++)
		part = n % 1024;
	add_scaled(to, n * 10 + part * 10 / 1024, units[i]);
}

void
report_time(struct buf *to, uint64_t us)
{
	if (us < 1000)
		buf_addf(to, "%" PRIu64 " \302\265s", us);
	else if (us < 1000000)
		add_scaled(to, us / 100, "ms");
	else
		add_scaled(to, us / 100000, "s");
}

void
report_age(struct buf *to, uint64_t seconds)
{
	uint64_t	minutes = seconds / 60, hours = minutes / 60;

	if (hours >= 24)
		buf_addf(to, "%" PRIu64 " d %" PRIu64 " h", hours / 24,
		    hours % 24);
	else if (hours > 0)
		buf_addf(to, "%" PRIu64 " h %" PRIu64 " min", hours,
		    minutes % 60);
	else if (minutes > 0)
		buf_addf(to, "%" PRIu64 " min %" PRIu64 " s", minutes,
		    seconds % 60);
	else
		buf_addf(to, "%" PRIu64 " s", seconds);
}

void
report_text(struct buf *to, const char *text)
{
	for (; *text != '\0'; text++)
		switch (*text) {
		case '&':
			buf_adds(to, "&amp;");
			break;
		case '<':
			buf_adds(to, "&lt;");
			break;
		case '"':
			buf_adds(to, "&quot;");
			break;
		default:
			buf_addc(to, *text);
			break;
		}
}

void
report_quoted(struct buf *to, const char *text)
{
	buf_addc(to, '"');
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			buf_addc(to, '\\');
		buf_addc(to, *text);
	}
	buf_addc(to, '"');
}

void
report_number(struct buf *to, enum stats_unit unit, uint64_t n)
{
	if (unit == STATS_UNIT_MICROSECONDS || unit == STATS_UNIT_RATIO ||
	    unit == STATS_UNIT_MILLIONTHS)
		buf_addf(to, "%" PRIu64 ".%06" PRIu64, n / 1000000,
		    n % 1000000);
	else
		buf_addf(to, "%" PRIu64, n);
}

uint64_t
report_quantile(const struct histogram *h, unsigned thousandths)
{
	uint64_t	seen = 0, wanted = h->n / 1000 * thousandths +
			    h->n % 1000 * thousandths / 1000;

	for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->count[i];
		if (seen > wanted && i < HISTOGRAM_BUCKETS - 1 &&
		    (uint64_t)1 << i < h->max)
			return (uint64_t)1 << i;
		if (seen > wanted)
			break;
	}
	return h->max;
}
