/*
 * stats: counters, gauges and histograms, from stats.tbl.
 *
 * A thread has counters and histograms of its own, and is the only one to write
 * them; they may be in memory that outlives its process (scoreboard.h).  Gauges
 * are valid only right after they have been measured for a report (report.h).
 */
#ifndef STATS_STATS_H
#define STATS_STATS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "helpers/job.h"
#include "lib/counter.h"
#include "stats/advice_rows.h"
#include "stats/histogram.h"

/* Id, name. */
#define STATS_CACHES(X)							\
	X(PATHNAME, "pathname") X(HEADER, "header") X(CHUNK, "chunk")	\
	X(FILE, "file") X(AUTH, "auth")

/* States of a connection.  A connection that runs is in its last state, a new
 * one in none. */
#define STATS_STATES(X)							\
	X(IDLE,	   "idle",    "connections between two requests")	\
	X(READING, "reading", "connections that receive a request") \
	X(DISK,	   "disk",    "connections that wait for a disk")	\
	X(PROGRAM, "program", "connections that wait for a program")	\
	X(SENDING, "sending", "connections that are sent a response") \
	X(LINGERING, "lingering", "connections that their clients must close")

enum stats_cache {
#define X(id, name) STATS_CACHE_##id,
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

/* The counts of one thread, in cache lines of their own. */
struct stats_slot {
	_Alignas(64) uint64_t	counters[STATS_COUNT];
	struct histogram	histograms[STATS_HISTOGRAM_COUNT];
};

#define STATS_FS_QUEUES_MAX	64

/* The queue of a file system (disk/fs_queues.h). */
struct stats_fs_queue {
	char	name[32];
	int64_t	queued;			/* jobs that wait */
	int64_t	helpers, limit;		/* present, allowed */
};

extern _Thread_local uint64_t		*stats;		/* this thread's */
extern _Thread_local struct histogram	*stats_histograms; /* this thread's */
extern int64_t		 stats_gauges[STATS_GAUGE_COUNT];
extern struct stats_fs_queue stats_fs_queues[STATS_FS_QUEUES_MAX];
extern size_t		 stats_nfs_queues;

/* Lets the process, and its first thread, which calls this, count in a slot. */
void	stats_use(struct stats_slot *);
/* Lets another thread, which calls this, count in a slot. */
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

/* Sets a counter of the process to a value that is counted elsewhere.  Any one
 * thread at a time may call this. */
void	stats_set(enum stats_counter, uint64_t);

const char	*stats_name(enum stats_counter);

#endif
