/*
 * report_plot: plots without scripts: boxes, and drawings in SVG.
 */
#include <inttypes.h>

#include "stats/report_private.h"

#define WINDOW	300		/* s, of a history */
#define WIDTH	600		/* of a drawing, in its units */
#define HEIGHT	80
#define HEADROOM	4		/* above the highest point */

void
report_bar(struct buf *to, const struct report_segment *parts, size_t n)
{
	buf_adds(to, "<div class=\"bar\">");
	for (size_t i = 0; i < n; i++)
		if (parts[i].n > 0)
			buf_addf(to, "<i class=\"%s\" style=\"flex:%" PRIu64
			    " 0 2px\"></i>", parts[i].colour, parts[i].n);
	buf_adds(to, "</div>\n<ul class=\"key\">");
	for (size_t i = 0; i < n; i++) {
		buf_addf(to, "<li><i class=\"%s\"></i>%s <b>",
		    parts[i].colour, parts[i].name);
		report_count(to, parts[i].n);
		buf_adds(to, "</b></li>");
	}
	buf_adds(to, "</ul>\n");
}

/* A ratio in thousandths, for numbers of any size. */
static unsigned
to_thousandths(uint64_t n, uint64_t whole)
{
	while (n > UINT64_MAX / 1000) {
		n /= 2;
		whole /= 2;
	}
	n = whole == 0 ? 0 : n * 1000 / whole;
	return n < 1000 ? (unsigned)n : 1000;
}

void
report_meter(struct buf *to, uint64_t n, uint64_t whole)
{
	unsigned	part = to_thousandths(n, whole);

	if (whole == 0) {
		buf_adds(to, "&#8211;");
		return;
	}
	buf_addf(to, "<span class=\"meter\"><i style=\"width:%u.%u%%\"></i>"
	    "</span> %u.%u&#160;%%", part / 10, part % 10, part / 10,
	    part % 10);
}

/* About eight times the binary logarithm, so that rare values stay visible. */
static unsigned
scale_log(uint64_t n)
{
	unsigned	bits;

	if (n == 0)
		return 0;
	bits = 63 - (unsigned)__builtin_clzll(n);
	return 8 * (bits + 1) + (unsigned)(n << (63 - bits) >> 60 & 7);
}

static void
add_step(struct buf *to, const struct histogram *h, int i, int first,
    unsigned highest)
{
	unsigned high = scale_log(h->count[i]) * (HEIGHT - HEADROOM) / highest;

	buf_addf(to, "<rect x=\"%d\" y=\"%u\" width=\"18\" height=\"%u\">"
	    "<title>", (i - first) * 20 + 1, HEIGHT - high, high);
	report_count(to, h->count[i]);
	buf_adds(to, i < HISTOGRAM_BUCKETS - 1 ? " below " : " from ");
	report_time(to, (uint64_t)1 << (i < HISTOGRAM_BUCKETS - 1 ? i : i - 1));
	buf_adds(to, "</title></rect>");
}

void
report_histogram(struct buf *to, const struct histogram *h)
{
	int		 first = HISTOGRAM_BUCKETS, last = -1;
	unsigned	 highest = 1;

	for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (h->count[i] == 0)
			continue;
		last = i;
		first = first < i ? first : i;
		if (scale_log(h->count[i]) > highest)
			highest = scale_log(h->count[i]);
	}
	if (last == -1)
		return;
	buf_addf(to, "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
	    "role=\"img\" aria-label=\"histogram of durations\">",
	    (last - first + 1) * 20, HEIGHT);
	for (int i = first; i <= last; i++)
		add_step(to, h, i, first, highest);
	buf_adds(to, "</svg>\n<div class=\"ends\"><span>");
	report_time(to, first == 0 ? 0 : (uint64_t)1 << (first - 1));
	buf_adds(to, "</span><span>");
	report_time(to, (uint64_t)1 << last);
	buf_adds(to, "</span></div>\n");
}

/*
 * History
 */

/* The rate between a sample and the next; 0: there is none. */
static uint64_t
sample_rate(const struct report_sample *s, bool bytes)
{
	uint64_t	n = bytes ? s[1].bytes - s[0].bytes :
			    s[1].requests - s[0].requests;

	return s[1].at > s[0].at ? n / (uint64_t)(s[1].at - s[0].at) : 0;
}

static int64_t
find_x(int64_t at, int64_t now)
{
	return at < now - WINDOW ? 0 :
	    WIDTH - (now - at) * WIDTH / WINDOW;
}

static void
add_curve(struct buf *to, const struct report_sample *s, size_t n, bool bytes,
    uint64_t highest)
{
	int64_t		now = s[n - 1].at;
	unsigned	down;

	buf_addf(to, "<svg class=\"%s\" viewBox=\"0 0 %d %d\" "
	    "preserveAspectRatio=\"none\" role=\"img\" "
	    "aria-label=\"the last five minutes\"><path d=\"M%" PRId64 " %d",
	    bytes ? "bytes" : "requests", WIDTH, HEIGHT, find_x(s[0].at, now),
	    HEIGHT);
	for (size_t i = 0; i + 1 < n; i++) {
		down = HEIGHT - (HEIGHT - HEADROOM) *
		    to_thousandths(sample_rate(&s[i], bytes), highest) / 1000;
		buf_addf(to, "L%" PRId64 " %uL%" PRId64 " %u",
		    find_x(s[i].at, now), down, find_x(s[i + 1].at, now),
		    down);
	}
	buf_addf(to, "L%d %dZ\"/></svg>\n", WIDTH, HEIGHT);
}

static void
add_history(struct buf *to, const struct report_sample *s, size_t n,
    bool bytes)
{
	uint64_t	highest = 0;

	for (size_t i = 0; i + 1 < n; i++)
		if (sample_rate(&s[i], bytes) > highest)
			highest = sample_rate(&s[i], bytes);
	buf_adds(to, "<div>");
	add_curve(to, s, n, bytes, highest);
	buf_adds(to, "<div class=\"ends\"><span>");
	(bytes ? report_bytes : report_count)(
	    to, sample_rate(&s[n - 2], bytes));
	buf_addf(to, "%s a second</span><span>at most ", bytes ? "" :
	    sample_rate(&s[n - 2], false) == 1 ? " request" : " requests");
	(bytes ? report_bytes : report_count)(to, highest);
	buf_adds(to, "</span></div></div>\n");
}

/* Leaves out samples that are older than the window. */
void
report_history(struct buf *to, const struct report *r)
{
	const struct report_sample	*s = r->samples;
	size_t				 n = r->nsamples;

	while (n > 2 && s[1].at < s[n - 1].at - WINDOW) {
		s++;
		n--;
	}
	if (n < 2) {
		buf_adds(to, "<p>The plots begin with the next reload of "
		    "this page, every five seconds.</p>\n");
		return;
	}
	buf_adds(to, "<div class=\"pair\">");
	add_history(to, s, n, false);
	add_history(to, s, n, true);
	buf_adds(to, "</div>\n");
}
