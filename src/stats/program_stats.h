/*
 * program_stats: the numbers of each program of a conf, from stats.tbl.
 *
 * The numbers are in shared memory, which the monitor makes for each
 * generation, with room for the programs of its conf.  Counters and histograms
 * belong to a program's label, and go on in a new generation whose conf has a
 * program with this label; any process adds to them.  Gauges belong to a
 * program manager, which alone sets them.  A reader must expect any number
 * there.
 */
#ifndef STATS_PROGRAM_STATS_H
#define STATS_PROGRAM_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/histogram.h"
#include "stats/stats.h"

enum program_stats_counter {
#define PROGRAM_COUNTER(id, ...) PROGRAM_STATS_##id,
#include "stats/stats.tbl"
	PROGRAM_STATS_COUNT
};

enum program_stats_gauge {
#define PROGRAM_GAUGE(id, ...) PROGRAM_STATS_GAUGE_##id,
#include "stats/stats.tbl"
	PROGRAM_STATS_GAUGE_COUNT
};

enum program_stats_histogram {
#define PROGRAM_HISTOGRAM(id, ...) PROGRAM_STATS_HISTOGRAM_##id,
#include "stats/stats.tbl"
	PROGRAM_STATS_HISTOGRAM_COUNT
};

enum program_stats_server_gauge {
#define SERVER_GAUGE(id, ...) PROGRAM_STATS_SERVER_##id,
#include "stats/stats.tbl"
	PROGRAM_STATS_SERVER_COUNT
};

/* Slots for processes of a program, which tell whether main keeps the process;
 * further processes have this number as their slot. */
#define PROGRAM_STATS_SLOTS	2048

struct program_stats;			/* of a generation */

/* A program's names, by which its numbers are told from those of others. */
struct program_stats_label {
	const char	*name;
	char		**servers;	/* addresses, if others start it */
	size_t		 nservers;
};

/* The numbers of one program, at one time. */
struct program_stats_numbers {
	const char	*name;		/* visible UTF-8 */
	size_t		 nservers;
	uint64_t	 counters[PROGRAM_STATS_COUNT];
	uint64_t	 gauges[PROGRAM_STATS_GAUGE_COUNT];
	struct histogram histograms[PROGRAM_STATS_HISTOGRAM_COUNT];
};

/* Monitor: makes the numbers of n programs, whose names differ, by their
 * numbers in the conf.  Copies the labels. */
struct program_stats *program_stats_new(const struct program_stats_label *,
	    size_t n);
void	program_stats_free(struct program_stats **);
/* Monitor: a program of this conf has the gauges of one of an older conf, which
 * has the same servers, as both have one manager. */
void	program_stats_share(struct program_stats *, size_t program,
	    const struct program_stats *from, size_t other);
/* Monitor: the manager has ended, as have its programs: zeroes the gauges. */
void	program_stats_clear(const struct program_stats *, size_t program);

/* From now on the calls below, in this process, are about these numbers; NULL:
 * they do nothing.  Main, manager, control child; to be called before there are
 * threads. */
void	program_stats_use(struct program_stats *);
void	program_stats_add(size_t program, enum program_stats_counter,
	    uint64_t more);
void	program_stats_time(size_t program, enum program_stats_histogram,
	    int64_t us);
/* Manager. */
void	program_stats_set(size_t program, enum program_stats_gauge, uint64_t);
/* Main: whether it keeps a process, by its slot, for a next request; then the
 * process counts as idle, though the manager has set it as busy.  Manager: no
 * main keeps it. */
void	program_stats_keep(size_t program, uint32_t slot, bool);
bool	program_stats_is_kept(size_t program, uint32_t slot);
void	program_stats_set_server(size_t program, size_t server,
	    enum program_stats_server_gauge, uint64_t);
/* Reads the numbers of a program; false: there is none of this number. */
bool	program_stats_read(size_t program, struct program_stats_numbers *);
/* Reads those of a server of it, and returns its address. */
const char *program_stats_read_server(size_t program, size_t server,
	    uint64_t [PROGRAM_STATS_SERVER_COUNT]);

#endif
