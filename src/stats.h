/*
 * stats: what is counted, measured and timed, from stats.tbl.
 *
 * Counters and histograms are plain numbers of this process, one loop: but they
 * may stand in memory that outlives it (board.h).  Gauges are worth something
 * only right after they have been measured (report.h).
 */
#ifndef STATS_H
#define STATS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "helpers/job.h"
#include "lib/histogram.h"

/* By its counters' name, and as the conf and people call it. */
#define STATS_CACHES(X)							\
	X(PATHNAME, "pathname", "pathname") X(HEADER, "header", "header") \
	X(CHUNK, "chunk", "chunk") X(FILE, "file", "file")		\
	X(GRANT, "grant", "login")

/* Of a connection; one that just runs is in that it had before, or in none. */
#define STATS_STATES(X)							\
	X(IDLE,	   "idle",    "connections between two requests")	\
	X(READING, "reading", "connections with a request that is coming") \
	X(DISK,	   "disk",    "connections that wait for a helper")	\
	X(SENDING, "sending", "connections that are being sent something") \
	X(LINGERING, "lingering", "connections that their clients are to close")

enum stats_cache {
#define X(id, name, called) STATS_CACHE_##id,
	STATS_CACHES(X)
#undef X
	STATS_CACHE_COUNT
};

enum stats_state {
#define X(id, name, help) STATS_STATE_##id,
	STATS_STATES(X)
#undef X
	STATS_STATE_COUNT
};

enum stats_counter {
#define COUNTER(id, ...) STATS_##id,
#include "stats.tbl"
	STATS_COUNT
};

enum stats_gauge {
#define GAUGE(id, ...) STATS_GAUGE_##id,
#include "stats.tbl"
	STATS_GAUGE_COUNT
};

enum stats_histogram {
#define HISTOGRAM(id, ...) STATS_HISTOGRAM_##id,
#include "stats.tbl"
	STATS_HISTOGRAM_COUNT
};

/* What one process counts. */
struct stats_part {
	uint64_t		counters[STATS_COUNT];
	struct histogram	histograms[STATS_HISTOGRAM_COUNT];
};

/* The errands of a file system. */
#define STATS_LANES	64
struct stats_lane {
	char	name[32];
	int64_t	queued, held, share;	/* jobs that wait; helpers */
};

extern uint64_t		*stats;			/* this process's own */
extern struct histogram	*stats_histograms;	/* the same */
extern int64_t		 stats_gauges[STATS_GAUGE_COUNT];
extern struct stats_lane stats_lanes[STATS_LANES];
extern size_t		 stats_nlanes;

/* Where this process counts from now on. */
void	stats_count_in(struct stats_part *);

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
const char		*stats_name(enum stats_counter);
/* What a metric of several rows says as a whole; NULL: it has but one. */
const char		*stats_family(const char *metric);
/* name, help, kind, metric's whole name, label: a line each, with tabs, for
 * the manual and its test. */
void			 stats_list(FILE *);
/* "amped_sent_bytes_total"; room for any: */
#define STATS_METRIC_MOST	64
void			 stats_metric(enum stats_kind, const struct stats_row *,
			    char *, size_t);

#endif
