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

void
report_json(struct buf *to, const struct report *r)
{
	const struct stats_row	*rows;
	size_t			 n;

	buf_addf(to, "{\"version\":\"%s\",\n\"counters\":{\n",
	    PACKAGE_VERSION);
	rows = stats_rows(STATS_KIND_COUNTER, &n);
	for (size_t i = 0; i < n; i++)
		add_member(to, &rows[i], r->sum.counters[i], i == 0);
	buf_adds(to, "},\n\"gauges\":{\n");
	rows = stats_rows(STATS_KIND_GAUGE, &n);
	for (size_t i = 0; i < n; i++)
		add_member(to, &rows[i], r->gauges[i], i == 0);
	buf_adds(to, "},\n\"histograms\":{\n");
	rows = stats_rows(STATS_KIND_HISTOGRAM, &n);
	for (size_t i = 0; i < n; i++)
		add_histogram(to, &rows[i], &r->sum.histograms[i], i == 0);
	buf_adds(to, "},\n\"fs_queues\":[\n");
	add_fs_queues(to);
	buf_adds(to, "]}\n");
}
