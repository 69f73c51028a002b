/*
 * rows: what stats.tbl says of each row, for who writes it down.
 */
#ifndef STATS_ROWS_H
#define STATS_ROWS_H

#include <stddef.h>
#include <stdio.h>

enum stats_kind {
	STATS_KIND_COUNTER, STATS_KIND_GAUGE, STATS_KIND_HISTOGRAM,
	STATS_KIND_COUNT
};

enum stats_unit {
	STATS_UNIT_ONE, STATS_UNIT_BYTES, STATS_UNIT_SECONDS,
	STATS_UNIT_MICROSECONDS
};

struct stats_row {
	const char	*name, *metric, *label, *help;
	enum stats_unit	 unit;
};

/* The rows of a kind, by their number there. */
const struct stats_row	*stats_rows(enum stats_kind, size_t *n);
/* What a metric of several rows says as a whole; NULL: it has but one. */
const char		*stats_family(const char *metric);
/* name, help, kind, metric's whole name, label: a line each, with tabs, for
 * the manual and its test. */
void			 stats_list(FILE *);
/* "amped_sent_bytes_total"; room for any: */
#define STATS_METRIC_MAX	64
void			 stats_metric(enum stats_kind, const struct stats_row *,
			    char *, size_t);

#endif
