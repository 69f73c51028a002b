/*
 * report_html: a report as one page, without scripts and other files.
 *
 * The page is valid XML, so that any program can read it.
 */
#include <inttypes.h>

#include "stats/report_private.h"

static const char	style[] =
	":root{color-scheme:light dark;--fore:#1c2024;--dim:#667078;"
	"--back:#f4f6f8;--card:#fff;--line:#dfe4e8;--good:#2a9d63;"
	"--else:#3b82c4;--warn:#d9902f;--bad:#cf3f46;--rest:#a9b4bc}\n"
	"@media(prefers-color-scheme:dark){:root{--fore:#e4e8eb;"
	"--dim:#94a0a8;--back:#14181b;--card:#1d2327;--line:#31393f;"
	"--good:#43b97c;--else:#5a9fdd;--warn:#e5a853;--bad:#e2636a;"
	"--rest:#5c6870}}\n"
	"*{box-sizing:border-box}body{margin:0 auto;padding:1rem;"
	"max-width:70rem;background:var(--back);color:var(--fore);"
	"font:15px/1.5 system-ui,sans-serif;"
	"font-variant-numeric:tabular-nums}\n"
	"h1{font-size:1.5rem;margin:0}h2{font-size:1rem;margin:0 0 .6rem}"
	"header{display:flex;flex-wrap:wrap;justify-content:space-between;"
	"align-items:baseline;gap:0 1rem;margin:0 .2rem .8rem}"
	"p,small{color:var(--dim);margin:0}\n"
	"main,.stack{display:grid;gap:.8rem}"
	".stack{align-content:start}"
	"main{grid-template-columns:"
	"repeat(auto-fit,minmax(min(100%,26rem),1fr))}"
	"section{background:var(--card);border:1px solid var(--line);"
	"border-radius:.6rem;padding:.9rem 1rem;min-width:0;overflow-x:auto}"
	".wide{grid-column:1/-1}\n"
	"dl{display:grid;margin:0;gap:.6rem 1rem;"
	"grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr))}"
	"dt{color:var(--dim)}dd{margin:0;font-size:1.45rem;line-height:1.3}\n"
	".bar{display:flex;height:1.1rem;border-radius:.3rem;overflow:hidden;"
	"gap:2px;background:var(--line)}"
	".key{list-style:none;display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;"
	"margin:.5rem 0 0;padding:0;color:var(--dim)}.key b{color:var(--fore)}"
	".key i{display:inline-block;width:.7em;height:.7em;"
	"border-radius:.15em;margin-right:.4em}\n"
	".good{background:var(--good)}.else{background:var(--else)}"
	".warn{background:var(--warn)}.bad{background:var(--bad)}"
	".rest{background:var(--rest)}\n"
	".meter{display:inline-block;width:4.5rem;height:.6rem;"
	"background:var(--line);border-radius:.3rem;overflow:hidden}"
	".meter i{display:block;height:100%;background:var(--else)}\n"
	"svg{display:block;width:100%;height:4.5rem;"
	"border-bottom:1px solid var(--line);fill:var(--else)}"
	"svg.requests{fill:var(--good)}td svg{height:1.6rem;width:7rem;"
	"margin-left:auto}td .ends{display:none}"
	".ends{display:flex;justify-content:space-between;color:var(--dim);"
	"font-size:.85rem}.pair{display:grid;gap:1rem;"
	"grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr))}\n"
	"table{border-collapse:collapse;width:100%}"
	"th{color:var(--dim);font-weight:normal;text-align:right}"
	"td{text-align:right;white-space:nowrap;border-top:1px solid "
	"var(--line)}th,td{padding:.2rem 0 .2rem .9rem}"
	"th:first-child,td:first-child{text-align:left;padding-left:0}"
	"td.help{white-space:normal;text-align:left;color:var(--dim)}"
	"summary{cursor:pointer;font-weight:bold}a{color:var(--else)}"
	"footer{margin:.8rem .2rem}\n"
	"@media(max-width:40rem){.meter,td svg{display:none}}\n";

static uint64_t
get_gauge(enum stats_gauge which)
{
	return (uint64_t)stats_gauges[which];
}

static void
add_head(struct buf *to)
{
	buf_addf(to, "<!DOCTYPE html>\n<html lang=\"en\"><head>"
	    "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
	    "content=\"width=device-width, initial-scale=1\"/>\n"
	    "<meta http-equiv=\"refresh\" content=\"5\"/>\n"
	    "<title>amped: status</title>\n<style>%s</style></head>\n"
	    "<body><header><h1>amped <small>%s</small></h1>\n<p>up ", style,
	    PACKAGE_VERSION);
	report_age(to, get_gauge(STATS_GAUGE_UPTIME));
	buf_adds(to, "; conf ");
	report_count(to, get_gauge(STATS_GAUGE_GENERATION));
	buf_adds(to, ", in force for ");
	report_age(to, get_gauge(STATS_GAUGE_STARTED) +
	    get_gauge(STATS_GAUGE_UPTIME) - get_gauge(STATS_GAUGE_LOADED));
	if (get_gauge(STATS_GAUGE_DRAINING) != 0)
		buf_adds(to, "; <b>draining</b>");
	buf_adds(to, "</p></header>\n<main>\n");
}

static void
add_tile(struct buf *to, const char *name,
    void (*add)(struct buf *, uint64_t), uint64_t n)
{
	buf_addf(to, "<div><dt>%s</dt><dd>", name);
	add(to, n);
	buf_adds(to, "</dd></div>\n");
}

static void
add_overview(struct buf *to, const struct report *r)
{
	const struct histogram	*lag = r->sum.histograms +
				    STATS_HISTOGRAM_LOOP_LAG;

	buf_adds(to, "<section class=\"wide\"><dl>\n");
	add_tile(to, "requests", report_count, r->sum.counters[STATS_REQUESTS]);
	add_tile(to, "sent", report_bytes, r->sum.counters[STATS_BYTES]);
	add_tile(to, "received", report_bytes, r->sum.counters[STATS_BYTES_IN]);
	add_tile(
	    to, "connections now", report_count, get_gauge(STATS_GAUGE_OPEN));
	add_tile(
	    to, "waiting jobs", report_count, get_gauge(STATS_GAUGE_QUEUED));
	add_tile(to, "loop lag, 99 %", report_time, report_quantile(lag, 990));
	buf_adds(to, "</dl></section>\n<section class=\"wide\">"
	    "<h2>The last five minutes</h2>\n");
	report_history(to, r);
	buf_adds(to, "</section>\n");
}

/* Begins a section with a bar. */
static void
begin_section(struct buf *to, const char *name,
    const struct report_segment *parts, size_t n)
{
	buf_addf(to, "<section><h2>%s</h2>\n", name);
	report_bar(to, parts, n);
}

static void
add_count(struct buf *to, const char *words, uint64_t n)
{
	buf_adds(to, words);
	report_count(to, n);
}

static void
add_responses(struct buf *to, const struct report *r)
{
	const uint64_t			*n = r->sum.counters;
	const struct report_segment	 parts[] = {
		{ "good", "2xx", n[STATS_STATUS_2XX] },
		{ "else", "3xx", n[STATS_STATUS_3XX] },
		{ "warn", "4xx", n[STATS_STATUS_4XX] },
		{ "bad", "5xx", n[STATS_STATUS_5XX] },
	};

	begin_section(to, "Responses by class", parts,
	    sizeof(parts) / sizeof(parts[0]));
	add_count(to, "<p>aborted ", n[STATS_ABORTED]);
	add_count(to, ", denied ", n[STATS_DENIED]);
	add_count(to, ", over the rate ", n[STATS_REQUESTS_OVER_RATE]);
	add_count(to, ", disk timeouts ", n[STATS_DISK_TIMEOUTS]);
	buf_adds(to, "</p></section>\n");
}

/* How many mains there are, and how busy. */
static void
add_workers(struct buf *to, const struct report *r)
{
	add_count(to, "<p>workers ", get_gauge(STATS_GAUGE_WORKERS));
	add_count(to, " of ", get_gauge(STATS_GAUGE_WORKERS_MAX));
	buf_adds(to, ", their loops busy ");
	report_meter(to, get_gauge(STATS_GAUGE_UTILISATION), 1000000);
	add_count(to, "; added ", r->sum.counters[STATS_WORKERS_ADDED]);
	add_count(to, ", retired ", r->sum.counters[STATS_WORKERS_RETIRED]);
	buf_adds(to, "</p>\n");
}

static void
add_connections(struct buf *to, const struct report *r)
{
	const struct report_segment	parts[] = {
		{ "rest", "idle", get_gauge(STATS_GAUGE_STATE_IDLE) },
		{ "else", "reading", get_gauge(STATS_GAUGE_STATE_READING) },
		{ "warn", "disk", get_gauge(STATS_GAUGE_STATE_DISK) },
		{ "warn", "program", get_gauge(STATS_GAUGE_STATE_PROGRAM) },
		{ "good", "sending", get_gauge(STATS_GAUGE_STATE_SENDING) },
		{ "bad", "lingering", get_gauge(STATS_GAUGE_STATE_LINGERING) },
	};

	begin_section(to, "Connections by state", parts,
	    sizeof(parts) / sizeof(parts[0]));
	add_count(to, "<p>", get_gauge(STATS_GAUGE_OPEN));
	add_count(to, " of ", get_gauge(STATS_GAUGE_OPEN_LIMIT));
	add_count(to, " now, accepted ", r->sum.counters[STATS_CONNECTIONS]);
	add_count(to, ", refused ",
	    r->sum.counters[STATS_CONNECTIONS_REFUSED]);
	buf_adds(to, "</p>\n");
	if (get_gauge(STATS_GAUGE_WORKERS_MAX) != 0)
		add_workers(to, r);
	buf_adds(to, "</section>\n");
}

/* How full a cache is, by the limit that is nearer. */
static void
add_cache_usage(struct buf *to, int i)
{
	const int64_t	*g = stats_gauges + i;
	uint64_t	 n = (uint64_t)g[STATS_GAUGE_ENTRIES_PATHNAME];
	uint64_t	 max = (uint64_t)g[STATS_GAUGE_ENTRIES_LIMIT_PATHNAME];
	uint64_t	 bytes = (uint64_t)g[STATS_GAUGE_BYTES_PATHNAME];
	uint64_t	 size = (uint64_t)g[STATS_GAUGE_BYTES_LIMIT_PATHNAME];

	if (size == 0 || (max != 0 &&
	    (double)n / (double)max > (double)bytes / (double)size))
		report_meter(to, n, max);
	else
		report_meter(to, bytes, size);
}

static void
add_cache(struct buf *to, const struct report *r, const char *name, int i)
{
	const uint64_t	*n = r->sum.counters;
	uint64_t	 hits = n[STATS_HITS_PATHNAME + i];

	buf_addf(to, "<tr><td>%s</td><td>", name);
	report_count(to, get_gauge(STATS_GAUGE_ENTRIES_PATHNAME + i));
	buf_adds(to, "</td><td>");
	report_bytes(to, get_gauge(STATS_GAUGE_BYTES_PATHNAME + i));
	buf_adds(to, "</td><td>");
	add_cache_usage(to, i);
	buf_adds(to, "</td><td>");
	report_meter(to, hits, hits + n[STATS_MISSES_PATHNAME + i]);
	buf_adds(to, "</td><td>");
	report_count(to, n[STATS_EVICTIONS_PATHNAME + i]);
	buf_adds(to, "</td></tr>\n");
}

static void
add_caches(struct buf *to, const struct report *r)
{
	static const char *const	names[] = {
#define X(id, name) name,
		STATS_CACHES(X)
#undef X
	};

	buf_adds(to, "<section class=\"wide\"><h2>Caches</h2>\n<table>"
	    "<thead><tr><th>cache</th><th>entries</th><th>bytes</th>"
	    "<th>full</th><th>hits</th><th>evictions</th></tr></thead>\n"
	    "<tbody>\n");
	for (int i = 0; i < STATS_CACHE_COUNT; i++)
		add_cache(to, r, names[i], i);
	buf_adds(to, "</tbody></table></section>\n");
}

static void
add_fs_queues(struct buf *to)
{
	const struct stats_fs_queue	*l = stats_fs_queues;

	buf_adds(to, "<table><thead><tr><th>file system</th><th>waiting</th>"
	    "<th>helpers</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < stats_nfs_queues; i++, l++) {
		buf_adds(to, "<tr><td>");
		report_text(to, l->name);
		buf_addf(to, "</td><td>%" PRId64 "</td><td>%" PRId64 " of %"
		    PRId64 "</td></tr>\n", l->queued, l->helpers, l->limit);
	}
	buf_adds(to, "</tbody></table>\n");
}

/* Advice by Little's law: more helpers than there may be would have work. */
static void
add_load(struct buf *to)
{
	uint64_t	load = get_gauge(STATS_GAUGE_HELPERS_LOAD);
	uint64_t	limit = get_gauge(STATS_GAUGE_HELPERS_LIMIT);

	buf_addf(to, "<p>The jobs of late keep %.1f of at most %" PRIu64
	    " helpers busy%s</p>\n", (double)load / 1e6, limit,
	    load >= limit * 1000000 ? ": <b>jobs wait for helpers</b>, and a "
	    "higher \"helpers max\" saves that time if the disk is not the "
	    "limit" : "");
}

static void
add_helpers(struct buf *to, const struct report *r)
{
	const struct report_segment	parts[] = {
		{ "rest", "idle", get_gauge(STATS_GAUGE_IDLE_HELPERS) },
		{ "good", "busy", get_gauge(STATS_GAUGE_BUSY_HELPERS) },
		{ "bad", "stuck", get_gauge(STATS_GAUGE_STUCK_HELPERS) },
	};

	begin_section(to, "Helpers", parts, sizeof(parts) / sizeof(parts[0]));
	add_count(to, "<p>waiting ", get_gauge(STATS_GAUGE_QUEUED));
	add_count(to, ", at most ", get_gauge(STATS_GAUGE_QUEUED_MAX));
	add_count(to, "; died ", r->sum.counters[STATS_HELPER_DEATHS]);
	add_count(to, ", abandoned ", r->sum.counters[STATS_HELPERS_ABANDONED]);
	buf_adds(to, "</p>\n");
	if (get_gauge(STATS_GAUGE_HELPERS_LIMIT) != 0)
		add_load(to);
	if (stats_nfs_queues > 0)
		add_fs_queues(to);
	buf_adds(to, "</section>\n");
}

static void
add_loop_lag(struct buf *to, const struct report *r)
{
	const struct histogram	*h = r->sum.histograms +
				    STATS_HISTOGRAM_LOOP_LAG;

	buf_adds(to, "<section><h2>Loop lag</h2>\n");
	report_histogram(to, h);
	add_count(to, "<p>", h->n);
	buf_adds(to, " iterations, half of them below ");
	report_time(to, report_quantile(h, 500));
	buf_adds(to, ", the longest ");
	report_time(to, h->max);
	buf_adds(to, "</p></section>\n");
}

static void
add_job(struct buf *to, const struct histogram *h, const char *name)
{
	if (h->n == 0)
		return;
	buf_addf(to, "<tr><td>%s</td><td>", name);
	report_count(to, h->n);
	buf_adds(to, "</td><td>");
	report_time(to, report_quantile(h, 500));
	buf_adds(to, "</td><td>");
	report_time(to, report_quantile(h, 990));
	buf_adds(to, "</td><td>");
	report_time(to, h->max);
	buf_adds(to, "</td><td>");
	report_histogram(to, h);
	buf_adds(to, "</td></tr>\n");
}

static void
add_jobs(struct buf *to, const struct report *r)
{
	const struct histogram	*h = r->sum.histograms;

	buf_adds(to, "<section><h2>Work on the disk</h2>\n<table><thead><tr>"
	    "<th>job</th><th>done</th><th>median</th><th>99 %</th>"
	    "<th>longest</th><th></th></tr></thead>\n<tbody>\n");
	for (int i = 0; i < JOB_KIND_COUNT; i++)
		add_job(to, &h[STATS_HISTOGRAM_JOB_DURATION_RESOLVE + i],
		    job_kind_name((enum job_kind)i));
	buf_adds(to, "</tbody></table></section>\n");
}

/* A cell: a number as people read it. */
static void
add_cell(struct buf *to, void (*add)(struct buf *, uint64_t), uint64_t n)
{
	buf_adds(to, "<td>");
	add(to, n);
	buf_adds(to, "</td>");
}

static void
add_program(struct buf *to, const struct program_stats_numbers *p)
{
	const struct histogram	*h = p->histograms;

	buf_adds(to, "<tr><td>");
	report_text(to, p->name);
	buf_adds(to, "</td>");
	add_cell(to, report_count, p->gauges[PROGRAM_STATS_GAUGE_PROCESSES]);
	buf_adds(to, "<td>");
	report_meter(to, p->gauges[PROGRAM_STATS_GAUGE_BUSY],
	    p->gauges[PROGRAM_STATS_GAUGE_LIMIT]);
	buf_adds(to, "</td>");
	add_cell(to, report_count, p->gauges[PROGRAM_STATS_GAUGE_QUEUED]);
	add_cell(to, report_count, p->counters[PROGRAM_STATS_REQUESTS]);
	add_cell(to, report_count, p->counters[PROGRAM_STATS_ANSWERED]);
	add_cell(to, report_count, p->counters[PROGRAM_STATS_FAILED]);
	add_cell(to, report_count, p->counters[PROGRAM_STATS_LATE]);
	add_cell(to, report_count, p->counters[PROGRAM_STATS_REFUSED]);
	for (int i = 0; i < PROGRAM_STATS_HISTOGRAM_COUNT; i++)
		add_cell(to, report_time, report_quantile(&h[i], 990));
	buf_adds(to, "</tr>\n");
}

static void
add_server(struct buf *to, const char *program, const char *address,
    const uint64_t *gauges)
{
	uint64_t	since = gauges[PROGRAM_STATS_SERVER_REFUSED_SINCE];
	uint64_t	now = get_gauge(STATS_GAUGE_STARTED) +
			    get_gauge(STATS_GAUGE_UPTIME);

	buf_adds(to, "<tr><td>");
	report_text(to, program);
	buf_adds(to, "</td><td>");
	report_text(to, address);
	buf_adds(to, "</td>");
	add_cell(to, report_count,
	    gauges[PROGRAM_STATS_SERVER_CONNECTIONS]);
	if (since == 0)
		buf_adds(to, "<td>&#8211;</td>");
	else
		add_cell(to, report_age, now > since ? now - since : 0);
	buf_adds(to, "</tr>\n");
}

static void
add_servers(struct buf *to, const struct report *r)
{
	uint64_t	 gauges[PROGRAM_STATS_SERVER_COUNT];
	const char	*address;

	buf_adds(to, "<table><thead><tr><th>program</th><th>server</th>"
	    "<th>connections</th><th>refuses for</th></tr></thead>\n"
	    "<tbody>\n");
	for (size_t i = 0; i < r->nprograms; i++)
		for (size_t k = 0; k < r->programs[i].nservers; k++) {
			address = program_stats_read_server(i, k, gauges);
			add_server(to, r->programs[i].name, address, gauges);
		}
	buf_adds(to, "</tbody></table>\n");
}

static void
add_programs(struct buf *to, const struct report *r)
{
	size_t	nservers = 0;

	buf_adds(to, "<section class=\"wide\"><h2>Programs</h2>\n<table>"
	    "<thead><tr><th>program</th><th>processes</th><th>busy</th>"
	    "<th>waiting</th><th>requests</th><th>answered</th><th>failed</th>"
	    "<th>late</th><th>refused</th><th>wait, 99 %</th>"
	    "<th>answer, 99 %</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < r->nprograms; i++) {
		add_program(to, &r->programs[i]);
		nservers += r->programs[i].nservers;
	}
	buf_adds(to, "</tbody></table>\n");
	if (nservers > 0)
		add_servers(to, r);
	buf_adds(to, "</section>\n");
}

static void
add_chain(struct buf *to, const struct chain_stats_numbers *c)
{
	const struct histogram	*time =
				    &c->histograms[CHAIN_STATS_HISTOGRAM_TIME];

	buf_adds(to, "<tr><td>");
	report_text(to, c->name);
	buf_adds(to, "</td>");
	for (int i = 0; i < CHAIN_STATS_COUNT; i++)
		add_cell(to, report_count, c->counters[i]);
	add_cell(to, report_time, report_quantile(time, 500));
	add_cell(to, report_time, report_quantile(time, 990));
	buf_adds(to, "</tr>\n");
}

static void
add_chains(struct buf *to, const struct report *r)
{
	const struct stats_row	*rows;
	size_t			 n;

	buf_adds(to, "<section class=\"wide\"><h2>Filters</h2>\n<table>"
	    "<thead><tr><th>chain</th>");
	rows = stats_rows(STATS_KIND_CHAIN_COUNTER, &n);
	for (size_t i = 0; i < n; i++)
		buf_addf(to, "<th>%s</th>", rows[i].name);
	buf_adds(to, "<th>run, median</th><th>run, 99 %</th></tr></thead>\n"
	    "<tbody>\n");
	for (size_t i = 0; i < r->nchains; i++)
		add_chain(to, &r->chains[i]);
	buf_adds(to, "</tbody></table></section>\n");
}

static void
add_rows(struct buf *to, enum stats_kind kind, const uint64_t *numbers)
{
	const struct stats_row	*rows;
	size_t			 n;

	rows = stats_rows(kind, &n);
	for (size_t i = 0; i < n; i++) {
		buf_addf(to, "<tr><td>%s</td><td>", rows[i].name);
		report_number(to, rows[i].unit, numbers[i]);
		buf_adds(to, "</td><td class=\"help\">");
		report_text(to, rows[i].help);
		buf_adds(to, "</td></tr>\n");
	}
}

void
report_html(struct buf *to, const struct report *r)
{
	add_head(to);
	add_overview(to, r);
	add_responses(to, r);
	add_connections(to, r);
	add_caches(to, r);
	report_advice_html(to, r);
	if (r->nprograms > 0)
		add_programs(to, r);
	if (r->nchains > 0)
		add_chains(to, r);
	add_helpers(to, r);
	buf_adds(to, "<div class=\"stack\">\n");
	add_loop_lag(to, r);
	add_jobs(to, r);
	buf_adds(to, "</div>\n<section class=\"wide\"><details>"
	    "<summary>All counters</summary>\n<table><tbody>\n");
	add_rows(to, STATS_KIND_COUNTER, r->sum.counters);
	add_rows(to, STATS_KIND_GAUGE, r->gauges);
	buf_adds(to, "</tbody></table></details></section>\n</main>\n"
	    "<footer>As <a href=\"?json\">JSON</a>, "
	    "<a href=\"?prometheus\">for Prometheus</a>, "
	    "<a href=\"?text\">as text</a>.</footer>\n"
	    "</body></html>\n");
}
