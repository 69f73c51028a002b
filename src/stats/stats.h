/*
 * stats: what is counted, measured and timed, from stats.tbl.
 *
 * Counters and histograms are numbers of one thread, which alone adds to them;
 * they may stand in memory that outlives its process (scoreboard.h).  Gauges
 * are worth something only right after they have been measured (report.h), by
 * whoever did that.
 */
#ifndef STATS_STATS_H
#define STATS_STATS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "helpers/job.h"
#include "lib/counter.h"
#include "lib/histogram.h"

/* By its counters' name, and as the conf and people call it. */
#define STATS_CACHES(X)							\
	X(PATHNAME, "pathname", "pathname") X(HEADER, "header", "header") \
	X(CHUNK, "chunk", "chunk") X(FILE, "file", "file")		\
	X(AUTH, "grant", "login")

/* Of a connection; one that just runs is in that it had before, or in none. */
#define STATS_STATES(X)							\
	X(IDLE,	   "idle",    "connections between two requests")	\
	X(READING, "reading", "connections with a request that is coming") \
	X(DISK,	   "disk",    "connections that wait for a disk")	\
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
#include "stats/stats.tbl"
	STATS_COUNT
};

enum stats_gauge {
#define GAUGE(id, ...) STATS_GAUGE_##id,
#include "stats/stats.tbl"
	STATS_GAUGE_COUNT
};

enum stats_histogram {
#define HISTOGRAM(id, ...) STATS_HISTOGRAM_##id,
#include "stats/stats.tbl"
	STATS_HISTOGRAM_COUNT
};

/* What one thread counts. */
struct stats_slot {
	_Alignas(64) uint64_t	counters[STATS_COUNT]; /* nobody else's line */
	struct histogram	histograms[STATS_HISTOGRAM_COUNT];
};

/* The tasks of a file system. */
#define STATS_FS_QUEUES_MAX	64
struct stats_fs_queue {
	char	name[32];
	int64_t	queued, helpers, limit;	/* jobs that wait; helpers */
};

extern _Thread_local uint64_t		*stats;		/* this thread's own */
extern _Thread_local struct histogram	*stats_histograms; /* the same */
extern int64_t		 stats_gauges[STATS_GAUGE_COUNT];
extern struct stats_fs_queue stats_fs_queues[STATS_FS_QUEUES_MAX];
extern size_t		 stats_nfs_queues;

/* Where this process counts from now on: the thread that it has begun with. */
void	stats_use(struct stats_slot *);
/* Where any other thread counts, before it does. */
void	stats_use_thread(struct stats_slot *);

static inline void
stats_add(enum stats_counter counter, uint64_t more)
{
	counter_add(&stats[counter], more);
}

static inline void
stats_count(enum stats_counter counter)
{
	stats_add(counter, 1);
}

static inline void
stats_time(enum stats_histogram histogram, int64_t us)
{
	histogram_add(&stats_histograms[histogram], us);
}

/* What is counted elsewhere for the whole process: that many by now.  By one
 * thread at a time, whichever it is. */
void	stats_set(enum stats_counter, uint64_t);

const char	*stats_name(enum stats_counter);

#endif
