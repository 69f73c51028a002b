/*
 * screen: lines of numbers, with a bar where something is a part of something.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "ampedctl/screen.h"

#define BAR_MOST	60
#define SHORT		16	/* bytes of a number as text */

struct page {
	struct buf		*to;
	const struct numbers	*now, *before;
	double			 seconds;
	size_t			 columns, left;	/* lines */
};

/* A line as it is put together. */
struct line {
	char	text[512];
	size_t	len;
};

static void add(struct line *, const char *, ...)
    __attribute__((__format__(__printf__, 2, 3)));

static void
add(struct line *l, const char *format, ...)
{
	va_list	args;
	int	n;

	va_start(args, format);
	n = vsnprintf(l->text + l->len, sizeof(l->text) - l->len, format,
	    args);
	va_end(args);
	if (n > 0)
		l->len += (size_t)n;
	if (l->len >= sizeof(l->text))
		l->len = sizeof(l->text) - 1;
}

static void
put(struct page *p, const struct line *l)
{
	size_t	len = l->len < p->columns ? l->len : p->columns;

	if (p->left == 0)
		return;
	p->left--;
	while (len > 0 && l->text[len - 1] == ' ')
		len--;
	buf_add(p->to, l->text, len);
	buf_addc(p->to, '\n');
}

/* Up to six characters. */
static const char *
amount(char text[SHORT], double n, double step)
{
	static const char	units[] = " KMGTPE";
	size_t			u = 0;

	while (n >= 99999.5 || (step > 1000 && n >= step && u == 0) ||
	    (u > 0 && n >= 999.5)) {
		n /= step;
		if (units[++u + 1] == '\0')
			break;
	}
	if (u == 0)
		snprintf(text, SHORT, "%.0f", n);
	else
		snprintf(text, SHORT, n < 99.95 ? "%.1f%c" : "%.0f%c", n,
		    units[u]);
	return text;
}

static const char *
count(char text[SHORT], double n)
{
	return amount(text, n, 1000);
}

static const char *
bytes(char text[SHORT], double n)
{
	return amount(text, n, 1024);
}

static const char *
duration(char text[SHORT], double s)
{
	if (s < 0.0009995)
		snprintf(text, SHORT, "%.0f us", s * 1e6);
	else if (s < 0.9995)
		snprintf(text, SHORT, s < 0.00995 ? "%.1f ms" : "%.0f ms",
		    s * 1e3);
	else
		snprintf(text, SHORT, "%.1f s", s);
	return text;
}

static const char *
age(char text[SHORT], double s)
{
	unsigned long	n = s > 0 ? (unsigned long)s : 0;
	unsigned long	days = n / 86400, h = n / 3600 % 24;

	if (days > 0)
		snprintf(text, SHORT, "%lud %luh", days % 100000, h);
	else
		snprintf(text, SHORT, "%lu:%02lu:%02lu", h, n / 60 % 60,
		    n % 60);
	return text;
}

/* Whatever is there of something shows, if it is little. */
static void
add_bar(struct line *l, double part, double whole, size_t width)
{
	size_t	full;

	if (width > BAR_MOST)
		width = BAR_MOST;
	if (part < 0 || whole <= 0)
		part = 0;
	full = whole <= 0 ? 0 : part >= whole ? width :
	    (size_t)(part / whole * (double)width);
	if (full == 0 && part > 0)
		full = 1;
	add(l, "[");
	for (size_t i = 0; i < width; i++)
		add(l, "%c", i < full ? '#' : '.');
	add(l, "]");
}

/* What has come a second; a main that began anew has not taken any back. */
static double
rate(const struct page *p, const char *name)
{
	double	more;

	if (p->before == NULL || p->seconds <= 0)
		return 0;
	more = numbers_get(p->now, "%s", name) -
	    numbers_get(p->before, "%s", name);
	return more > 0 ? more / p->seconds : 0;
}

static void
add_rate(struct line *l, const struct page *p, const char *name, bool is_bytes)
{
	char	text[SHORT];
	double	r = rate(p, name);

	if (p->before == NULL)
		return;
	if (is_bytes || r >= 99.95 || r == 0)
		amount(text, r, is_bytes ? 1024 : 1000);
	else
		snprintf(text, sizeof(text), "%.1f", r);
	add(l, " %6s/s", text);
}

#define GET(...)	numbers_get(p->now, __VA_ARGS__)

static void
put_title(struct page *p)
{
	struct line	l = { .len = 0 };
	char		up[SHORT], loaded[SHORT];

	add(&l, "amped %s   up %s   conf %.0f, for %s   main died %.0f times%s",
	    p->now->version, age(up, GET("uptime")), GET("generation"),
	    age(loaded, GET("started") + GET("uptime") - GET("loaded")),
	    GET("main-deaths"), GET("draining") > 0 ? "   DRAINING" : "");
	put(p, &l);
	l.len = 0;
	put(p, &l);
}

static void
put_requests(struct page *p)
{
	static const char *const	classes[] = { "2xx", "3xx", "4xx",
					    "5xx" };
	struct line			l = { .len = 0 };
	char				text[SHORT];

	add(&l, "requests    %6s", count(text, GET("requests")));
	add_rate(&l, p, "requests", false);
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		add(&l, "  %s %s", classes[i],
		    count(text, GET("status-%s", classes[i])));
	add(&l, "  aborted %s", count(text, GET("aborted")));
	put(p, &l);
}

static void
put_bytes(struct page *p)
{
	struct line	l = { .len = 0 };
	char		text[SHORT];

	add(&l, "sent        %6s", bytes(text, GET("bytes")));
	add_rate(&l, p, "bytes", true);
	add(&l, "  received %6s", bytes(text, GET("bytes-in")));
	add_rate(&l, p, "bytes-in", true);
	put(p, &l);
}

static void
put_connections(struct page *p)
{
	static const char *const	states[] = { "idle", "reading", "disk",
					    "sending", "lingering" };
	struct line			l = { .len = 0 };
	char				now[SHORT], most[SHORT];

	add(&l, "connections %6s of %-6s ",
	    count(now, GET("open-connections")),
	    count(most, GET("open-connections-limit")));
	add_bar(&l, GET("open-connections"), GET("open-connections-limit"),
	    p->columns - l.len - 2);
	put(p, &l);
	l.len = 0;
	add(&l, "           ");
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		add(&l, " %s %s ", states[i],
		    count(now, GET("connections-%s", states[i])));
	put(p, &l);
	l.len = 0;
	put(p, &l);
}

/* In the last second or so; without a before, of all times. */
static double
share_of_hits(const struct page *p, const char *cache, bool *any)
{
	double	hits = GET("%s-hits", cache), misses = GET("%s-misses", cache);

	if (p->before != NULL) {
		hits -= numbers_get(p->before, "%s-hits", cache);
		misses -= numbers_get(p->before, "%s-misses", cache);
	}
	*any = hits >= 0 && misses >= 0 && hits + misses > 0;
	return *any ? hits / (hits + misses) : 0;
}

/* The fuller of its two limits. */
static void
put_cache(struct page *p, const char *cache, const char *name)
{
	struct line	l = { .len = 0 };
	char		entries[SHORT], held[SHORT], gone[SHORT];
	double		by_entries = 0, by_bytes = 0, hits;
	bool		any;

	if (GET("%s-entries-limit", cache) > 0)
		by_entries = GET("%s-entries", cache) /
		    GET("%s-entries-limit", cache);
	if (GET("%s-bytes-limit", cache) > 0)
		by_bytes = GET("%s-bytes", cache) /
		    GET("%s-bytes-limit", cache);
	hits = share_of_hits(p, cache, &any);
	add(&l, "  %-9s %6s %8s %9s  ", name,
	    count(entries, GET("%s-entries", cache)),
	    bytes(held, GET("%s-bytes", cache)),
	    count(gone, GET("%s-evictions", cache)));
	add_bar(&l, by_entries > by_bytes ? by_entries : by_bytes, 1, 12);
	if (any)
		add(&l, "  %5.1f%% ", 100 * hits);
	else
		add(&l, "       - ");
	add_bar(&l, hits, 1, p->columns - l.len - 2);
	put(p, &l);
}

static void
put_caches(struct page *p)
{
	struct line	l = { .len = 0 };

	add(&l, "caches     entries    bytes evictions  full            hits");
	put(p, &l);
	put_cache(p, "pathname", "pathname");
	put_cache(p, "header", "header");
	put_cache(p, "chunk", "chunk");
	put_cache(p, "grant", "login");
	l.len = 0;
	put(p, &l);
}

static void
put_helpers(struct page *p)
{
	struct line	l = { .len = 0 };
	char		a[SHORT], b[SHORT], c[SHORT], d[SHORT];
	double		busy = GET("busy-helpers");
	double		stuck = GET("stuck-helpers");

	if (GET("helpers-limit") == 0) {	/* sped */
		add(&l, "helpers       none");
		put(p, &l);
		return;
	}
	add(&l, "helpers     %6s busy %s idle %s stuck of %s ",
	    count(a, busy), count(b, GET("idle-helpers")), count(c, stuck),
	    count(d, GET("helpers-limit")));
	add_bar(&l, busy + stuck, GET("helpers-limit"),
	    p->columns - l.len - 2);
	put(p, &l);
	l.len = 0;
	add(&l, "jobs        %6s wait, at most %s; %s dropped, %s too late",
	    count(a, GET("queued-jobs")), count(b, GET("queued-jobs-most")),
	    count(c, GET("jobs-dropped")), count(d, GET("disk-timeouts")));
	put(p, &l);
}

static void
put_disk(struct page *p)
{
	struct line	l = { .len = 0 };
	char		a[SHORT], b[SHORT];

	add(&l, "disk       ");
	add(&l, " %6s looks", count(a, GET("looks")));
	add_rate(&l, p, "looks", false);
	add(&l, "  %s each", duration(b, GET("service-resolve-median")));
	add(&l, "  %s reads", count(a, GET("reads")));
	add_rate(&l, p, "reads", false);
	add(&l, "  %s each", duration(b, GET("service-read-median")));
	put(p, &l);
}

static void
put_lag(struct page *p)
{
	struct line	l = { .len = 0 };
	char		a[SHORT], b[SHORT], c[SHORT];

	add(&l, "loop lag    median %s, 99%% %s, most %s",
	    duration(a, GET("loop-lag-median")),
	    duration(b, GET("loop-lag-p99")),
	    duration(c, GET("loop-lag-most")));
	put(p, &l);
}

static void
put_drops(struct page *p)
{
	struct line	l = { .len = 0 };
	char		a[SHORT], b[SHORT], c[SHORT], d[SHORT];

	add(&l, "dropped     %s log lines, %s closed for room, %s turned away, "
	    "%s over rate", count(a, GET("log-dropped")),
	    count(b, GET("made-room")), count(c, GET("turned-away")),
	    count(d, GET("over-rate")));
	put(p, &l);
}

/* What a file system holds and waits for, if anything. */
static void
put_fs_queue(struct page *p, const char *name, int len, double share)
{
	double		held = GET("lane-%.*s-held", len, name);
	double		queued = GET("lane-%.*s-queued", len, name);
	struct line	l = { .len = 0 };
	char		text[SHORT];

	if (held + queued == 0)
		return;
	add(&l, "  lane %-10.*s %3.0f of %.0f helpers, %s wait ", len, name,
	    held, share, count(text, queued));
	add_bar(&l, held, share, p->columns - l.len - 2);
	put(p, &l);
}

static void
put_fs_queues(struct page *p)
{
	static const char	start[] = "lane-", end[] = "-share";
	const size_t		nstart = sizeof(start) - 1;
	const size_t		nend = sizeof(end) - 1;
	const struct number	*n;
	size_t			len;

	for (size_t i = 0; i < p->now->n; i++) {
		n = &p->now->at[i];
		len = strlen(n->name);
		if (len > nstart + nend &&
		    strncmp(n->name, start, nstart) == 0 &&
		    strcmp(n->name + len - nend, end) == 0)
			put_fs_queue(p, n->name + nstart,
			    (int)(len - nstart - nend), n->value);
	}
}

void
view(struct buf *to, const struct numbers *now, const struct numbers *before,
    double seconds, size_t columns, size_t lines)
{
	struct page	p = { to, now, before, seconds, columns, lines };

	if (p.columns < VIEW_COLUMNS)	/* cut off, rather than folded */
		p.columns = VIEW_COLUMNS;
	put_title(&p);
	put_requests(&p);
	put_bytes(&p);
	put_connections(&p);
	put_caches(&p);
	put_helpers(&p);
	put_disk(&p);
	put_lag(&p);
	put_drops(&p);
	put_fs_queues(&p);
}
