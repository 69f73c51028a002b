/*
 * screen: lines of numbers, and bars for parts of a whole.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "ampedctl/screen.h"

#define BAR_MAX		60
#define BAR_MIN		4
#define NARROW		60	/* columns; less has no room for bars */
#define INDENT		4	/* of the rest of a line that was folded */
#define TEXT_SIZE	16	/* bytes of a number as text */

struct page {
	struct buf		*to;
	const struct metrics	*now, *before;
	double			 seconds;
	size_t			 columns, left;	/* lines left */
	bool			 has_room;	/* for blank lines */
};

/* A line under construction. */
struct line {
	char	text[512];
	size_t	len;
};

static void add_text(struct line *, const char *, ...)
    __attribute__((__format__(__printf__, 2, 3)));
static void put_text(struct page *, const char *, ...)
    __attribute__((__format__(__printf__, 2, 3)));

static void
add_args(struct line *l, const char *format, va_list args)
{
	int	n = vsnprintf(l->text + l->len, sizeof(l->text) - l->len,
		    format, args);

	if (n > 0)
		l->len += (size_t)n;
	if (l->len >= sizeof(l->text))
		l->len = sizeof(l->text) - 1;
}

static void
add_text(struct line *l, const char *format, ...)
{
	va_list	args;

	va_start(args, format);
	add_args(l, format, args);
	va_end(args);
}

/* Adds a line of these bytes, without blanks at its end. */
static void
put_bytes_of_line(struct page *p, const char *text, size_t len, size_t indent)
{
	if (p->left == 0)
		return;
	p->left--;
	while (len > 0 && text[len - 1] == ' ')
		len--;
	buf_addf(p->to, "%*s", (int)indent, "");
	buf_add(p->to, text, len);
	buf_addc(p->to, '\n');
}

/* Where to fold a line that is too long: at the last pair of blanks, which
 * stands between two numbers with their names, or at the last blank, if that
 * pair is far from the end. */
static size_t
find_fold(const char *text, size_t len)
{
	size_t	pair = 0, blank = 0;

	for (size_t i = 1; i < len; i++) {
		if (text[i] != ' ' || text[i - 1] == ' ')
			continue;
		blank = i;
		if (text[i + 1] == ' ')
			pair = i;
	}
	return pair > len / 3 ? pair : blank > 0 ? blank : len;
}

static void
put_line(struct page *p, const struct line *l)
{
	const char	*at = l->text, *end = l->text + l->len;
	size_t		 indent = 0, len;

	while ((size_t)(end - at) > p->columns - indent) {
		len = find_fold(at, p->columns - indent);
		put_bytes_of_line(p, at, len, indent);
		at += len;
		while (at < end && *at == ' ')
			at++;
		indent = INDENT;
	}
	if (at < end || indent == 0)
		put_bytes_of_line(p, at, (size_t)(end - at), indent);
}

static void
put_blank(struct page *p)
{
	if (p->has_room)
		put_bytes_of_line(p, "", 0, 0);
}

/* A line without bars and rates. */
static void
put_text(struct page *p, const char *format, ...)
{
	struct line	l = { .len = 0 };
	va_list		args;

	va_start(args, format);
	add_args(&l, format, args);
	va_end(args);
	put_line(p, &l);
}

/* Formats a number with six characters at most. */
static const char *
format_amount(char text[TEXT_SIZE], double n, double step)
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
		snprintf(text, TEXT_SIZE, "%.0f", n);
	else
		snprintf(text, TEXT_SIZE, n < 99.95 ? "%.1f%c" : "%.0f%c", n,
		    units[u]);
	return text;
}

static const char *
format_duration(char text[TEXT_SIZE], double s)
{
	if (s < 0.0009995)
		snprintf(text, TEXT_SIZE, "%.0f us", s * 1e6);
	else if (s < 0.9995)
		snprintf(text, TEXT_SIZE, s < 0.00995 ? "%.1f ms" : "%.0f ms",
		    s * 1e3);
	else
		snprintf(text, TEXT_SIZE, "%.1f s", s);
	return text;
}

static const char *
format_age(char text[TEXT_SIZE], double s)
{
	unsigned long	n = s > 0 ? (unsigned long)s : 0;
	unsigned long	days = n / 86400, h = n / 3600 % 24;

	if (days > 0)
		snprintf(text, TEXT_SIZE, "%lud %luh", days % 100000, h);
	else
		snprintf(text, TEXT_SIZE, "%lu:%02lu:%02lu", h, n / 60 % 60,
		    n % 60);
	return text;
}

/* Adds a bar in what is left of the columns, if that is enough.  A part that is
 * not zero shows at least one #. */
static void
add_bar(struct line *l, double part, double whole, size_t columns)
{
	size_t	full, width;

	if (columns < l->len + 2 + BAR_MIN)
		return;
	width = columns - l->len - 2;
	if (width > BAR_MAX)
		width = BAR_MAX;
	if (part < 0 || whole <= 0)
		part = 0;
	full = whole <= 0 ? 0 : part >= whole ? width :
	    (size_t)(part / whole * (double)width);
	if (full == 0 && part > 0)
		full = 1;
	add_text(l, "[");
	for (size_t i = 0; i < width; i++)
		add_text(l, "%c", i < full ? '#' : '.');
	add_text(l, "]");
}

/* Returns the increase a second; 0 after a restart, when counting is anew. */
static double
get_rate(const struct page *p, const char *name)
{
	double	more;

	if (p->before == NULL || p->seconds <= 0)
		return 0;
	more = metrics_get(p->now, "%s", name) -
	    metrics_get(p->before, "%s", name);
	return more > 0 ? more / p->seconds : 0;
}

static void
add_rate(struct line *l, const struct page *p, const char *name, bool is_bytes)
{
	char	text[TEXT_SIZE];
	double	r = get_rate(p, name);

	if (p->before == NULL)
		return;
	if (is_bytes || r >= 99.95 || r == 0)
		format_amount(text, r, is_bytes ? 1024 : 1000);
	else
		snprintf(text, sizeof(text), "%.1f", r);
	add_text(l, " %6s/s", text);
}

/* The value of a name, and as text, which lasts to the end of the block. */
#define GET(...)	metrics_get(p->now, __VA_ARGS__)
#define TEXT		((char[TEXT_SIZE]){ 0 })
#define COUNT(...)	format_amount(TEXT, GET(__VA_ARGS__), 1000)
#define BYTES(...)	format_amount(TEXT, GET(__VA_ARGS__), 1024)
#define DURATION(name)	format_duration(TEXT, GET(name))

static void
put_title(struct page *p)
{
	put_text(p, "amped %s   up %s   conf %.0f, for %s   "
	    "main died %.0f times%s", p->now->version,
	    format_age(TEXT, GET("uptime")), GET("generation"),
	    format_age(TEXT, GET("started") + GET("uptime") - GET("loaded")),
	    GET("main-deaths"), GET("draining") > 0 ? "   DRAINING" : "");
}

static void
put_requests(struct page *p)
{
	static const char *const	classes[] = { "2xx", "3xx", "4xx",
					    "5xx" };
	struct line			l = { .len = 0 };

	add_text(&l, "requests    %6s", COUNT("requests"));
	add_rate(&l, p, "requests", false);
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		add_text(&l, "  %s %s", classes[i],
		    COUNT("status-%s", classes[i]));
	add_text(&l, "  aborted %s", COUNT("responses-aborted"));
	put_line(p, &l);
}

static void
put_bytes(struct page *p)
{
	struct line	l = { .len = 0 };

	add_text(&l, "sent        %6s", BYTES("bytes"));
	add_rate(&l, p, "bytes", true);
	add_text(&l, "  received %6s", BYTES("bytes-in"));
	add_rate(&l, p, "bytes-in", true);
	put_line(p, &l);
}

static void
put_connections(struct page *p)
{
	static const char *const	states[] = { "idle", "reading", "disk",
					    "program", "sending",
					    "lingering" };
	struct line			l = { .len = 0 };

	add_text(&l, "connections %6s of %-6s ", COUNT("open-connections"),
	    COUNT("open-connections-limit"));
	add_bar(&l, GET("open-connections"), GET("open-connections-limit"),
	    p->columns);
	put_line(p, &l);
	l.len = 0;
	add_text(&l, "           ");
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		add_text(&l, " %s %s ", states[i],
		    COUNT("connections-%s", states[i]));
	put_line(p, &l);
	put_blank(p);
}

/* Returns the share of hits since the numbers before, or since ever. */
static double
get_hit_ratio(const struct page *p, const char *cache, bool *any)
{
	double	hits = GET("%s-hits", cache), misses = GET("%s-misses", cache);

	if (p->before != NULL) {
		hits -= metrics_get(p->before, "%s-hits", cache);
		misses -= metrics_get(p->before, "%s-misses", cache);
	}
	*any = hits >= 0 && misses >= 0 && hits + misses > 0;
	return *any ? hits / (hits + misses) : 0;
}

/* Returns how full a cache is, by the limit, of two, that is nearer. */
static double
get_fullness(const struct page *p, const char *cache)
{
	double	by_entries = 0, by_bytes = 0;

	if (GET("%s-entries-limit", cache) > 0)
		by_entries = GET("%s-entries", cache) /
		    GET("%s-entries-limit", cache);
	if (GET("%s-bytes-limit", cache) > 0)
		by_bytes = GET("%s-bytes", cache) /
		    GET("%s-bytes-limit", cache);
	return by_entries > by_bytes ? by_entries : by_bytes;
}

static void
put_cache(struct page *p, const char *cache)
{
	struct line	l = { .len = 0 };
	bool		any;
	double		hits = get_hit_ratio(p, cache, &any);

	add_text(&l, "  %-9s %6s %8s", cache, COUNT("%s-entries", cache),
	    BYTES("%s-bytes", cache));
	if (p->columns >= NARROW) {
		add_text(&l, " %9s  ", COUNT("%s-evictions", cache));
		add_bar(&l, get_fullness(p, cache), 1, l.len + 14);
	}
	if (any)
		add_text(&l, "  %5.1f%% ", 100 * hits);
	else
		add_text(&l, "       - ");
	if (p->columns >= NARROW)
		add_bar(&l, hits, 1, p->columns);
	put_line(p, &l);
}

static void
put_caches(struct page *p)
{
	static const char *const	names[] = { "pathname", "header",
					    "chunk", "file", "auth" };

	put_text(p, p->columns >= NARROW ? "caches     entries    bytes "
	    "evictions  full            hits" :
	    "caches     entries    bytes    hits");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put_cache(p, names[i]);
	put_blank(p);
}

static void
put_helpers(struct page *p)
{
	struct line	l = { .len = 0 };

	if (GET("helpers-limit") == 0) {	/* sped */
		put_text(p, "helpers       none");
		return;
	}
	add_text(&l, "helpers     %6s busy %s idle %s stuck of %s ",
	    COUNT("busy-helpers"), COUNT("idle-helpers"),
	    COUNT("stuck-helpers"), COUNT("helpers-limit"));
	add_bar(&l, GET("busy-helpers") + GET("stuck-helpers"),
	    GET("helpers-limit"), p->columns);
	put_line(p, &l);
	put_text(p, "jobs        %6s wait, at most %s; %s dropped, %s too "
	    "late; they keep %.1f busy", COUNT("queued-jobs"),
	    COUNT("queued-jobs-max"), COUNT("jobs-dropped"),
	    COUNT("disk-timeouts"), GET("helpers-load"));
	if (GET("helpers-load") >= GET("helpers-limit"))
		put_text(p, "            jobs wait: a higher helpers max saves "
		    "time, if the disk can");
}

/* If their number changes. */
static void
put_workers(struct page *p)
{
	if (GET("workers-max") == 0)
		return;
	put_text(p, "workers     %6s of %s, loops busy %.0f%%; %s added, %s "
	    "retired", COUNT("workers"), COUNT("workers-max"),
	    100 * GET("loop-utilisation"), COUNT("workers-added"),
	    COUNT("workers-retired"));
}

static void
put_disk(struct page *p)
{
	struct line	l = { .len = 0 };

	add_text(&l, "disk        %6s lookups", COUNT("lookups"));
	add_rate(&l, p, "lookups", false);
	add_text(&l, " %s each  %s reads", DURATION("job-resolve-median"),
	    COUNT("reads"));
	add_rate(&l, p, "reads", false);
	add_text(&l, " %s each", DURATION("job-read-median"));
	put_line(p, &l);
}

static void
put_watches(struct page *p)
{
	struct line	l = { .len = 0 };

	if (GET("watches-limit") == 0)
		return;
	add_text(&l, "watched     %6s directories of %s, %s changes",
	    COUNT("watches"), COUNT("watches-limit"), COUNT("watch-events"));
	add_rate(&l, p, "watch-events", false);
	put_line(p, &l);
}

static void
put_lag_and_drops(struct page *p)
{
	put_text(p, "loop lag    median %s, 99%% %s, most %s",
	    DURATION("loop-lag-median"), DURATION("loop-lag-p99"),
	    DURATION("loop-lag-max"));
	put_text(p, "dropped     %s log lines, %s evicted, %s refused, %s over "
	    "rate", COUNT("log-lines-dropped"), COUNT("connections-evicted"),
	    COUNT("connections-refused"), COUNT("requests-over-rate"));
}

/* Shows a file system for which helpers work or jobs wait. */
static void
put_fs_queue(struct page *p, const char *name, int len, double share)
{
	double		held = GET("fs-%.*s-helpers", len, name);
	double		queued = GET("fs-%.*s-queued", len, name);
	struct line	l = { .len = 0 };

	if (held + queued == 0)
		return;
	add_text(&l, "  fs %-12.*s %3.0f of %.0f helpers, %s wait ", len,
	    name, held, share, format_amount(TEXT, queued, 1000));
	add_bar(&l, held, share, p->columns);
	put_line(p, &l);
}

static void
put_fs_queues(struct page *p)
{
	static const char	 start[] = "fs-", end[] = "-limit";
	const size_t		 nstart = sizeof(start) - 1;
	const size_t		 nend = sizeof(end) - 1;
	const struct metric	*n;
	size_t			 len;

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
screen_draw(struct buf *to, const struct metrics *now,
    const struct metrics *before, double seconds, size_t columns, size_t lines)
{
	struct page	p = { to, now, before, seconds, columns, lines,
			    lines >= SCREEN_LINES_MIN };

	if (p.columns < SCREEN_COLUMNS_MIN)
		p.columns = SCREEN_COLUMNS_MIN;
	put_title(&p);
	put_requests(&p);
	put_bytes(&p);
	put_connections(&p);
	put_caches(&p);
	put_workers(&p);
	put_helpers(&p);
	put_disk(&p);
	put_watches(&p);
	put_lag_and_drops(&p);
	put_fs_queues(&p);
}
