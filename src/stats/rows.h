/*
 * rows: the rows of stats.tbl, for reports and for the manual.
 */
#ifndef STATS_ROWS_H
#define STATS_ROWS_H

#include <stddef.h>
#include <stdio.h>

enum stats_kind {
	STATS_KIND_COUNTER, STATS_KIND_GAUGE, STATS_KIND_HISTOGRAM,
	STATS_KIND_PROGRAM_COUNTER, STATS_KIND_PROGRAM_GAUGE,
	STATS_KIND_PROGRAM_HISTOGRAM, STATS_KIND_SERVER_GAUGE,
	STATS_KIND_CHAIN_COUNTER, STATS_KIND_CHAIN_HISTOGRAM,
	STATS_KIND_COUNT
};

enum stats_unit {
	STATS_UNIT_ONE, STATS_UNIT_BYTES, STATS_UNIT_SECONDS,
	STATS_UNIT_MICROSECONDS, STATS_UNIT_RATIO,	/* millionths */
	STATS_UNIT_MILLIONTHS				/* of one */
};

struct stats_row {
	const char	*name, *metric, *label, *help;
	enum stats_unit	 unit;
};

/* The rows of a kind, indexed by their ids. */
const struct stats_row	*stats_rows(enum stats_kind, size_t *n);
/* The type of a kind's metrics for Prometheus: "counter". */
const char		*stats_type(enum stats_kind);
/* The help of a metric of several rows; NULL: the metric has one row. */
const char		*stats_family(const char *metric);
/* Writes a line for each row: name, help, kind, metric and label, separated by
 * tabs, with NAME for a program or chain and ADDRESS for a server.  For the
 * manual and its test. */
void			 stats_list(FILE *);
#define STATS_METRIC_MAX	64	/* bytes, terminated */
/* Writes the full name of a metric: "amped_sent_bytes_total". */
void			 stats_metric(enum stats_kind, const struct stats_row *,
			    char *, size_t);

#endif
