/*
 * report_advice: the caches, and what other policies and other amounts of
 * memory would do, as a text and as a part of the page.
 */
#include <string.h>

#include "stats/report_private.h"

#define BAR_MAX		40	/* columns of a bar for all requests */
#define ALL		1000000	/* a ratio of 1 */

#define NAME(id, name)			name,
#define ADVICE_NAME(id, name, ...)	name,

static const char *const	cache_names[] = { STATS_CACHES(NAME) };
static const char *const	policy_names[] = { STATS_POLICIES(NAME) };
static const char *const	advice_names[] = { STATS_ADVICE(ADVICE_NAME) };

#undef NAME
#undef ADVICE_NAME

#define POLICIES	(sizeof(policy_names) / sizeof(policy_names[0]))

static bool
has_advice(const struct report *r)
{
	return r->gauges[STATS_GAUGE_ADVISED] > 0;
}

/* Whether i is a policy that a main has. */
static bool
is_present(const struct report *r, size_t i)
{
	return i < POLICIES && r->gauges[STATS_GAUGE_POLICY_LRU + i] > 0;
}

static const char *
name_of(size_t i)
{
	if (i == STATS_ADVICE_HALF)
		return "memory x 0.5";
	return i == STATS_ADVICE_TWICE ? "memory x 2" : advice_names[i];
}

/* Adds a text in so many columns, to the right of them. */
static void
add_column(struct buf *to, struct buf *text, size_t width)
{
	for (size_t n = strlen(buf_string(text)); n < width; n++)
		buf_addc(to, ' ');
	buf_adds(to, buf_string(text));
	text->len = 0;
}

static void
add_cache(struct buf *to, const struct report *r, size_t i)
{
	const uint64_t	*n = r->sum.counters;
	uint64_t	 hits = n[STATS_HITS_PATHNAME + i];
	uint64_t	 all = hits + n[STATS_MISSES_PATHNAME + i];
	struct buf	 text = { 0 };

	buf_addf(to, "%-10s", cache_names[i]);
	report_count(&text, r->gauges[STATS_GAUGE_ENTRIES_PATHNAME + i]);
	add_column(to, &text, 12);
	report_bytes(&text, r->gauges[STATS_GAUGE_BYTES_PATHNAME + i]);
	add_column(to, &text, 12);
	if (r->gauges[STATS_GAUGE_BYTES_LIMIT_PATHNAME + i] == 0)
		buf_adds(&text, "-");
	else
		report_bytes(&text,
		    r->gauges[STATS_GAUGE_BYTES_LIMIT_PATHNAME + i]);
	add_column(to, &text, 12);
	if (all == 0)
		buf_adds(&text, "-");
	else
		buf_addf(&text, "%.1f %%",
		    100 * (double)hits / (double)all);
	add_column(to, &text, 10);
	report_count(&text, n[STATS_EVICTIONS_PATHNAME + i]);
	add_column(to, &text, 12);
	buf_addc(to, '\n');
	buf_free(&text);
}

static void
add_ratio(struct buf *to, uint64_t ratio)
{
	buf_addf(to, "%8.1f %%", 100 * (double)ratio / ALL);
}

static void
add_line(struct buf *to, const struct report *r, size_t i)
{
	uint64_t	hits = r->gauges[STATS_GAUGE_WOULD_HIT_LRU + i];

	buf_addf(to, "%-12s", name_of(i));
	add_ratio(to, hits);
	add_ratio(to, r->gauges[STATS_GAUGE_WOULD_HIT_BYTES_LRU + i]);
	buf_adds(to, "  ");
	for (uint64_t n = 0; n < hits * BAR_MAX / ALL; n++)
		buf_addc(to, '#');
	buf_adds(to, is_present(r, i) ? "  present\n" : "\n");
}

static void
add_present(struct buf *to, const struct report *r)
{
	const char	*comma = "";

	buf_adds(to, "policy: ");
	for (size_t i = 0; i < POLICIES; i++)
		if (is_present(r, i)) {
			buf_addf(to, "%s%s", comma, policy_names[i]);
			comma = ", ";
		}
	buf_addf(to, "%s; changed by auto so often: ",
	    *comma == '\0' ? "-" : "");
	report_count(to, r->sum.counters[STATS_POLICY_CHANGES]);
	buf_addc(to, '\n');
	if (r->sum.counters[STATS_CHUNKS_NOT_ADMITTED] != 0) {
		buf_adds(to, "chunks not admitted: ");
		report_count(to, r->sum.counters[STATS_CHUNKS_NOT_ADMITTED]);
		buf_addc(to, '\n');
	}
	if (r->gauges[STATS_GAUGE_KEPT_PATHS] == 0)
		return;
	buf_adds(to, "kept: ");
	report_bytes(to, r->gauges[STATS_GAUGE_KEPT_BYTES]);
	buf_adds(to, " of chunks, of so many paths: ");
	report_count(to, r->gauges[STATS_GAUGE_KEPT_PATHS]);
	buf_addc(to, '\n');
}

void
report_advice(struct buf *to, const struct report *r)
{
	buf_addf(to, "%-10s%12s%12s%12s%10s%12s\n", "cache", "entries",
	    "bytes", "of", "hits", "evictions");
	for (size_t i = 0; i < STATS_CACHE_COUNT; i++)
		add_cache(to, r, i);
	buf_addc(to, '\n');
	add_present(to, r);
	if (!has_advice(r)) {
		buf_adds(to, "There is no advice yet: it begins when the cache "
		    "of chunks fills, and takes some thousands of requests.\n");
		return;
	}
	buf_addf(to, "Of late, the cache of chunks has had the file of %.1f %% "
	    "of the requests.\nWith others it would have been so, by a sample "
	    "of %.1f %% of the files:\n\n%-12s%10s%10s\n",
	    100 * (double)r->gauges[STATS_GAUGE_ADVICE_HIT] / ALL,
	    100 * (double)r->gauges[STATS_GAUGE_ADVICE_SAMPLE] / ALL,
	    "", "requests", "bytes");
	for (size_t i = 0; i < STATS_ADVICE_COUNT; i++)
		add_line(to, r, i);
}

/*
 * The part of the page
 */

static void
add_row(struct buf *to, const struct report *r, size_t i)
{
	buf_addf(to, "<tr><td>%s%s%s</td><td>", is_present(r, i) ? "<b>" : "",
	    name_of(i), is_present(r, i) ? "</b>, present" : "");
	report_meter(to, r->gauges[STATS_GAUGE_WOULD_HIT_LRU + i], ALL);
	buf_adds(to, "</td><td>");
	report_meter(to, r->gauges[STATS_GAUGE_WOULD_HIT_BYTES_LRU + i], ALL);
	buf_adds(to, "</td></tr>\n");
}

void
report_advice_html(struct buf *to, const struct report *r)
{
	if (!has_advice(r))
		return;
	buf_adds(to, "<section class=\"wide\"><h2>What other policies would "
	    "hit</h2>\n<table><thead><tr><th>policy</th><th>requests</th>"
	    "<th>bytes</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < STATS_ADVICE_COUNT; i++)
		add_row(to, r, i);
	buf_adds(to, "</tbody></table>\n<p>Of late, the cache of chunks has "
	    "had the file of ");
	report_meter(to, r->gauges[STATS_GAUGE_ADVICE_HIT], ALL);
	buf_adds(to, " of the requests; policy changes ");
	report_count(to, r->sum.counters[STATS_POLICY_CHANGES]);
	buf_adds(to, "</p></section>\n");
}
