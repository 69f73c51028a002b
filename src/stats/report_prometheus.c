/*
 * report_prometheus: the text exposition format, version 0.0.4: HELP and TYPE
 * of each metric, then its samples in base units.
 */
#include <inttypes.h>
#include <string.h>

#include "stats/report_private.h"

/* Steps of a histogram that are reported: from 8 us to 67 s. */
#define STEP_MIN	3
#define STEP_MAX	26

static void
add_help(struct buf *to, const char *metric, const char *type,
    const char *help)
{
	buf_addf(to, "# HELP %s %c%s.\n# TYPE %s %s\n", metric,
	    help[0] >= 'a' && help[0] <= 'z' ? help[0] - 'a' + 'A' : help[0],
	    help + 1, metric, type);
}

/* Begins a metric before its first sample. */
static void
begin_metric(struct buf *to, enum stats_kind kind, const struct stats_row *rows,
    size_t i, const char *metric)
{
	const char	*help;

	if (i > 0 && strcmp(rows[i].metric, rows[i - 1].metric) == 0)
		return;
	help = stats_family(rows[i].metric);
	add_help(to, metric, stats_type(kind),
	    help != NULL ? help : rows[i].help);
}

static void
add_sample(struct buf *to, enum stats_unit unit, const char *label,
    const char *metric, uint64_t n)
{
	bool	labelled = label[0] != '\0';

	buf_addf(to, "%s%s%s%s ", metric, labelled ? "{" : "", label,
	    labelled ? "}" : "");
	report_number(to, unit, n);
	buf_addc(to, '\n');
}

static void
add_numbers(struct buf *to, enum stats_kind kind, const uint64_t *numbers)
{
	char			 metric[STATS_METRIC_MAX];
	const struct stats_row	*rows;
	size_t			 n;

	rows = stats_rows(kind, &n);
	for (size_t i = 0; i < n; i++) {
		stats_metric(kind, &rows[i], metric, sizeof(metric));
		begin_metric(to, kind, rows, i, metric);
		add_sample(to, rows[i].unit, rows[i].label, metric, numbers[i]);
	}
}

static void
add_buckets(struct buf *to, enum stats_unit unit, const char *label,
    const char *metric, const struct histogram *h)
{
	const char	*comma = label[0] != '\0' ? "," : "";
	uint64_t	 seen = 0;

	for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->count[i];
		if (i < STEP_MIN || i > STEP_MAX)
			continue;
		buf_addf(to, "%s_bucket{%s%sle=\"", metric, label, comma);
		report_number(to, unit, (uint64_t)1 << i);
		buf_addf(to, "\"} %" PRIu64 "\n", seen);
	}
	/* The sum of the buckets, even if one has just been counted. */
	buf_addf(to, "%s_bucket{%s%sle=\"+Inf\"} %" PRIu64 "\n", metric,
	    label, comma, seen);
}

static void
add_histogram(struct buf *to, enum stats_unit unit, const char *label,
    const char *metric, const struct histogram *h)
{
	bool		labelled = label[0] != '\0';
	const char	*open = labelled ? "{" : "";
	const char	*close = labelled ? "}" : "";
	uint64_t	 n = 0;

	for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
		n += h->count[i];
	add_buckets(to, unit, label, metric, h);
	buf_addf(to, "%s_sum%s%s%s ", metric, open, label, close);
	report_number(to, unit, h->sum);
	buf_addf(to, "\n%s_count%s%s%s %" PRIu64 "\n", metric, open,
	    label, close, n);
}

static void
add_histograms(struct buf *to, const struct histogram *all)
{
	char			 metric[STATS_METRIC_MAX];
	const struct stats_row	*rows;
	size_t			 n;

	rows = stats_rows(STATS_KIND_HISTOGRAM, &n);
	for (size_t i = 0; i < n; i++) {
		stats_metric(STATS_KIND_HISTOGRAM, &rows[i], metric,
		    sizeof(metric));
		begin_metric(to, STATS_KIND_HISTOGRAM, rows, i, metric);
		add_histogram(to, rows[i].unit, rows[i].label, metric,
		    &all[i]);
	}
}

static void
add_fs_queues(
    struct buf *to, const char *metric, size_t member, const char *help)
{
	int64_t	n;

	if (stats_nfs_queues > 0)
		add_help(to, metric, "gauge", help);
	for (size_t i = 0; i < stats_nfs_queues; i++) {
		memcpy(&n, (const char *)&stats_fs_queues[i] + member,
		    sizeof(n));
		buf_addf(to, "%s{fs=\"%s\"} %" PRId64 "\n", metric,
		    stats_fs_queues[i].name, n);
	}
}

/*
 * Programs: the samples of a metric stand together
 */

/* The label of a program or chain, and, unless server is NULL, that of a server
 * of the program. */
static const char *
make_label(struct buf *to, const char *of, const char *name,
    const char *server)
{
	to->len = 0;
	buf_adds(to, of);
	report_quoted(to, name);
	if (server != NULL) {
		buf_adds(to, ",server=");
		report_quoted(to, server);
	}
	return buf_string(to);
}

/* Records with numbers of programs or of chains: each begins with a name. */
struct named {
	const char	*label;		/* with its = */
	const void	*records;
	size_t		 n, size;	/* bytes of one */
};

_Static_assert(offsetof(struct program_stats_numbers, name) == 0 &&
    offsetof(struct chain_stats_numbers, name) == 0, "the name is the first");

/* The name of a record, whose numbers are at that member of it. */
static const char *
get_named(const struct named *all, size_t i, size_t member,
    const void **numbers)
{
	const char	*record = (const char *)all->records + i * all->size;
	const char	*name;

	memcpy(&name, record, sizeof(name));
	*numbers = record + member;
	return name;
}

/* Adds the counters or gauges that are in an array at that member, or, if they
 * are, its histograms. */
static void
add_named(struct buf *to, const struct named *all, enum stats_kind kind,
    size_t member, bool are_histograms)
{
	char			 metric[STATS_METRIC_MAX];
	const struct stats_row	*rows;
	const void		*numbers;
	struct buf		 text = { 0 };
	const char		*label;
	size_t			 n;

	rows = stats_rows(kind, &n);
	for (size_t i = 0; i < n; i++) {
		stats_metric(kind, &rows[i], metric, sizeof(metric));
		begin_metric(to, kind, rows, i, metric);
		for (size_t k = 0; k < all->n; k++) {
			label = get_named(all, k, member, &numbers);
			label = make_label(&text, all->label, label, NULL);
			if (are_histograms)
				add_histogram(to, rows[i].unit, label, metric,
				    (const struct histogram *)numbers + i);
			else
				add_sample(to, rows[i].unit, label, metric,
				    ((const uint64_t *)numbers)[i]);
		}
	}
	buf_free(&text);
}

static void
add_servers(struct buf *to, const struct report *r,
    const struct stats_row *row, size_t gauge, const char *metric)
{
	uint64_t	 gauges[PROGRAM_STATS_SERVER_COUNT];
	struct buf	 label = { 0 };
	const char	*server;

	for (size_t i = 0; i < r->nprograms; i++)
		for (size_t k = 0; k < r->programs[i].nservers; k++) {
			server = program_stats_read_server(i, k, gauges);
			add_sample(to, row->unit, make_label(&label,
			    "program=", r->programs[i].name, server), metric,
			    gauges[gauge]);
		}
	buf_free(&label);
}

static void
add_server_numbers(struct buf *to, const struct report *r)
{
	char			 metric[STATS_METRIC_MAX];
	const struct stats_row	*rows;
	size_t			 n;

	rows = stats_rows(STATS_KIND_SERVER_GAUGE, &n);
	for (size_t i = 0; i < n; i++) {
		stats_metric(STATS_KIND_SERVER_GAUGE, &rows[i], metric,
		    sizeof(metric));
		begin_metric(to, STATS_KIND_SERVER_GAUGE, rows, i, metric);
		add_servers(to, r, &rows[i], i, metric);
	}
}

static void
add_programs(struct buf *to, const struct report *r)
{
	const struct named	all = { "program=", r->programs, r->nprograms,
				    sizeof(r->programs[0]) };

	add_named(to, &all, STATS_KIND_PROGRAM_COUNTER,
	    offsetof(struct program_stats_numbers, counters), false);
	add_named(to, &all, STATS_KIND_PROGRAM_GAUGE,
	    offsetof(struct program_stats_numbers, gauges), false);
	add_named(to, &all, STATS_KIND_PROGRAM_HISTOGRAM,
	    offsetof(struct program_stats_numbers, histograms), true);
	for (size_t i = 0; i < r->nprograms; i++)
		if (r->programs[i].nservers > 0) {
			add_server_numbers(to, r);
			return;
		}
}

static void
add_chains(struct buf *to, const struct report *r)
{
	const struct named	all = { "chain=", r->chains, r->nchains,
				    sizeof(r->chains[0]) };

	add_named(to, &all, STATS_KIND_CHAIN_COUNTER,
	    offsetof(struct chain_stats_numbers, counters), false);
	add_named(to, &all, STATS_KIND_CHAIN_HISTOGRAM,
	    offsetof(struct chain_stats_numbers, histograms), true);
}

void
report_prometheus(struct buf *to, const struct report *r)
{
	add_help(to, "amped_build_info", "gauge", "the version, as a label");
	buf_addf(to, "amped_build_info{version=\"%s\"} 1\n", PACKAGE_VERSION);
	add_numbers(to, STATS_KIND_COUNTER, r->sum.counters);
	add_numbers(to, STATS_KIND_GAUGE, r->gauges);
	add_histograms(to, r->sum.histograms);
	add_fs_queues(to, "amped_fs_queued_jobs",
	    offsetof(struct stats_fs_queue, queued),
	    "jobs for a file system that wait for a helper");
	add_fs_queues(to, "amped_fs_helpers",
	    offsetof(struct stats_fs_queue, helpers),
	    "helpers with a job for a file system");
	add_fs_queues(to, "amped_fs_helpers_limit",
	    offsetof(struct stats_fs_queue, limit),
	    "limit of the helpers with a job for a file system");
	if (r->nprograms > 0)
		add_programs(to, r);
	if (r->nchains > 0)
		add_chains(to, r);
}
