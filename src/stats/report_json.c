/*
 * report_json: a report as one object, with the names of stats.tbl.
 */
#include <inttypes.h>

#include "stats/report_private.h"

static void
add_member(struct buf *to, const struct stats_row *row, uint64_t n, bool first)
{
	buf_addf(to, "%s\"%s\":", first ? "" : ",\n", row->name);
	report_number(to, row->unit, n);
}

static void
add_buckets(struct buf *to, const struct histogram *h)
{
	bool	first = true;

	for (int i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
		if (h->count[i] == 0)
			continue;
		buf_adds(to, first ? "[" : ",[");
		report_number(to, STATS_UNIT_MICROSECONDS, (uint64_t)1 << i);
		buf_addf(to, ",%" PRIu64 "]", h->count[i]);
		first = false;
	}
}

static void
add_histogram(struct buf *to, const struct stats_row *row,
    const struct histogram *h, bool first)
{
	buf_addf(to, "%s\"%s\":{\"count\":%" PRIu64 ",\"sum\":",
	    first ? "" : ",\n", row->name, h->n);
	report_number(to, row->unit, h->sum);
	buf_adds(to, ",\"max\":");
	report_number(to, row->unit, h->max);
	buf_adds(to, ",\"median\":");
	report_number(to, row->unit, report_quantile(h, 500));
	buf_adds(to, ",\"p99\":");
	report_number(to, row->unit, report_quantile(h, 990));
	buf_adds(to, ",\"below\":[");
	add_buckets(to, h);
	buf_adds(to, "]}");
}

static void
add_fs_queues(struct buf *to)
{
	const struct stats_fs_queue	*l = stats_fs_queues;

	for (size_t i = 0; i < stats_nfs_queues; i++, l++)
		buf_addf(to, "%s{\"name\":\"%s\",\"queued\":%" PRId64
		    ",\"helpers\":%" PRId64 ",\"limit\":%" PRId64 "}",
		    i == 0 ? "" : ",\n", l->name, l->queued, l->helpers,
		    l->limit);
}

/* The members of rows, behind others unless first. */
static void
add_members(struct buf *to, enum stats_kind kind, const uint64_t *numbers,
    bool first)
{
	const struct stats_row	*rows;
	size_t			 n;

	rows = stats_rows(kind, &n);
	for (size_t i = 0; i < n; i++)
		add_member(to, &rows[i], numbers[i], first && i == 0);
}

static void
add_histograms(struct buf *to, enum stats_kind kind,
    const struct histogram *all, bool first)
{
	const struct stats_row	*rows;
	size_t			 n;

	rows = stats_rows(kind, &n);
	for (size_t i = 0; i < n; i++)
		add_histogram(to, &rows[i], &all[i], first && i == 0);
}

static void
add_server(struct buf *to, size_t program, size_t server)
{
	uint64_t	gauges[PROGRAM_STATS_SERVER_COUNT];

	buf_adds(to, server == 0 ? "{\"address\":" : ",\n{\"address\":");
	report_quoted(to, program_stats_read_server(program, server, gauges));
	add_members(to, STATS_KIND_SERVER_GAUGE, gauges, false);
	buf_addc(to, '}');
}

static void
add_program(struct buf *to, const struct program_stats_numbers *p,
    size_t program)
{
	buf_adds(to, program == 0 ? "{\"name\":" : ",\n{\"name\":");
	report_quoted(to, p->name);
	add_members(to, STATS_KIND_PROGRAM_COUNTER, p->counters, false);
	add_members(to, STATS_KIND_PROGRAM_GAUGE, p->gauges, false);
	add_histograms(to, STATS_KIND_PROGRAM_HISTOGRAM, p->histograms, false);
	buf_adds(to, ",\n\"servers\":[");
	for (size_t i = 0; i < p->nservers; i++)
		add_server(to, program, i);
	buf_adds(to, "]}");
}

static void
add_chain(struct buf *to, const struct chain_stats_numbers *c, bool first)
{
	buf_adds(to, first ? "{\"name\":" : ",\n{\"name\":");
	report_quoted(to, c->name);
	add_members(to, STATS_KIND_CHAIN_COUNTER, c->counters, false);
	add_histograms(to, STATS_KIND_CHAIN_HISTOGRAM, c->histograms, false);
	buf_addc(to, '}');
}

void
report_json(struct buf *to, const struct report *r)
{
	buf_addf(to, "{\"version\":\"%s\",\n\"counters\":{\n",
	    PACKAGE_VERSION);
	add_members(to, STATS_KIND_COUNTER, r->sum.counters, true);
	buf_adds(to, "},\n\"gauges\":{\n");
	add_members(to, STATS_KIND_GAUGE, r->gauges, true);
	buf_adds(to, "},\n\"histograms\":{\n");
	add_histograms(to, STATS_KIND_HISTOGRAM, r->sum.histograms, true);
	buf_adds(to, "},\n\"fs_queues\":[\n");
	add_fs_queues(to);
	buf_adds(to, "],\n\"programs\":[\n");
	for (size_t i = 0; i < r->nprograms; i++)
		add_program(to, &r->programs[i], i);
	buf_adds(to, "],\n\"chains\":[\n");
	for (size_t i = 0; i < r->nchains; i++)
		add_chain(to, &r->chains[i], i == 0);
	buf_adds(to, "]}\n");
}
