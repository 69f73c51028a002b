/*
 * stats: the counters of this process, and the rows of stats.tbl.
 */
#include <string.h>

#include "stats/rows.h"
#include "stats/stats.h"

static struct stats_slot	default_slot;
static struct stats_slot	*process_slot = &default_slot;

_Thread_local uint64_t		*stats = default_slot.counters;
_Thread_local struct histogram	*stats_histograms = default_slot.histograms;
int64_t				 stats_gauges[STATS_GAUGE_COUNT];
struct stats_fs_queue		 stats_fs_queues[STATS_FS_QUEUES_MAX];
size_t				 stats_nfs_queues;

#define ROW(id, name, metric, label, unit, help)			\
	{ name, metric, label, help, STATS_UNIT_##unit },

static const struct stats_row	counters[] = {
#define COUNTER	ROW
#include "stats/stats.tbl"
};

static const struct stats_row	gauges[] = {
#define GAUGE	ROW
#include "stats/stats.tbl"
};

static const struct stats_row	histograms[] = {
#define HISTOGRAM	ROW
#include "stats/stats.tbl"
};

static const struct stats_row	program_counters[] = {
#define PROGRAM_COUNTER	ROW
#include "stats/stats.tbl"
};

static const struct stats_row	program_gauges[] = {
#define PROGRAM_GAUGE	ROW
#include "stats/stats.tbl"
};

static const struct stats_row	program_histograms[] = {
#define PROGRAM_HISTOGRAM ROW
#include "stats/stats.tbl"
};

static const struct stats_row	server_gauges[] = {
#define SERVER_GAUGE	ROW
#include "stats/stats.tbl"
};

static const struct stats_row	chain_counters[] = {
#define CHAIN_COUNTER	ROW
#include "stats/stats.tbl"
};

static const struct stats_row	chain_histograms[] = {
#define CHAIN_HISTOGRAM	ROW
#include "stats/stats.tbl"
};

static const struct {
	const char	*metric, *help;
} families[] = {
#define FAMILY(metric, help)	{ metric, help },
#include "stats/stats.tbl"
};

#define COUNT(rows)	(sizeof(rows) / sizeof((rows)[0]))
#define OF_PROGRAM	"program-NAME-", "program=\"NAME\""
#define OF_CHAIN	"chain-NAME-", "chain=\"NAME\""
#define OF_SERVER							\
	"program-NAME-server-ADDRESS-", "program=\"NAME\",server=\"ADDRESS\""

/* Name, the type and the ending of its metrics; what stats_list() puts in front
 * of names, and the labels of rows that have none in the table. */
static const struct {
	const struct stats_row	*rows;
	size_t			 n;
	const char		*name, *type, *ending, *before, *labels;
} kinds[] = {
	[STATS_KIND_COUNTER] = { counters, COUNT(counters), "counter",
	    "counter", "_total", "", "" },
	[STATS_KIND_GAUGE] = { gauges, COUNT(gauges), "gauge", "gauge", "", "",
	    "" },
	[STATS_KIND_HISTOGRAM] = { histograms, COUNT(histograms), "histogram",
	    "histogram", "", "", "" },
	[STATS_KIND_PROGRAM_COUNTER] = { program_counters,
	    COUNT(program_counters), "program-counter", "counter", "_total",
	    OF_PROGRAM },
	[STATS_KIND_PROGRAM_GAUGE] = { program_gauges, COUNT(program_gauges),
	    "program-gauge", "gauge", "", OF_PROGRAM },
	[STATS_KIND_PROGRAM_HISTOGRAM] = { program_histograms,
	    COUNT(program_histograms), "program-histogram", "histogram", "",
	    OF_PROGRAM },
	[STATS_KIND_SERVER_GAUGE] = { server_gauges, COUNT(server_gauges),
	    "server-gauge", "gauge", "", OF_SERVER },
	[STATS_KIND_CHAIN_COUNTER] = { chain_counters, COUNT(chain_counters),
	    "chain-counter", "counter", "_total", OF_CHAIN },
	[STATS_KIND_CHAIN_HISTOGRAM] = { chain_histograms,
	    COUNT(chain_histograms), "chain-histogram", "histogram", "",
	    OF_CHAIN },
};

void
stats_use_thread(struct stats_slot *part)
{
	stats = part->counters;
	stats_histograms = part->histograms;
}

void
stats_use(struct stats_slot *part)
{
	process_slot = part;
	stats_use_thread(part);
}

void
stats_set(enum stats_counter counter, uint64_t n)
{
	counter_set(&process_slot->counters[counter], n);
}

const struct stats_row *
stats_rows(enum stats_kind kind, size_t *n)
{
	*n = kinds[kind].n;
	return kinds[kind].rows;
}

const char *
stats_type(enum stats_kind kind)
{
	return kinds[kind].type;
}

const char *
stats_name(enum stats_counter counter)
{
	return counters[counter].name;
}

const char *
stats_family(const char *metric)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (strcmp(families[i].metric, metric) == 0)
			return families[i].help;
	return NULL;
}

void
stats_metric(enum stats_kind kind, const struct stats_row *row, char *text,
    size_t size)
{
	static const char *const	units[] = {
		[STATS_UNIT_ONE] = "", [STATS_UNIT_BYTES] = "_bytes",
		[STATS_UNIT_SECONDS] = "_seconds",
		[STATS_UNIT_MICROSECONDS] = "_seconds",
		[STATS_UNIT_RATIO] = "_ratio",
		[STATS_UNIT_MILLIONTHS] = "",
	};

	snprintf(text, size, "amped_%s%s%s", row->metric, units[row->unit],
	    kinds[kind].ending);
}

void
stats_list(FILE *out)
{
	const struct stats_row	*row;
	char			 metric[STATS_METRIC_MAX];

	for (int kind = 0; kind < STATS_KIND_COUNT; kind++)
		for (size_t i = 0; i < kinds[kind].n; i++) {
			row = &kinds[kind].rows[i];
			stats_metric(kind, row, metric, sizeof(metric));
			fprintf(out, "%s%s\t%s\t%s\t%s\t%s%s\n",
			    kinds[kind].before, row->name, row->help,
			    kinds[kind].name, metric, row->label,
			    kinds[kind].labels);
		}
}
