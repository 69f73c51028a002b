/*
 * chain_stats: the numbers of each chain of filters of a conf, from stats.tbl,
 * and the last reload of each chain.
 *
 * The numbers are in shared memory, which the monitor makes for each
 * generation.  They belong to a chain's name, and go on in a new generation
 * whose conf has a chain of this name; any main adds to them.  A reader must
 * expect any number there.
 */
#ifndef STATS_CHAIN_STATS_H
#define STATS_CHAIN_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/histogram.h"
#include "stats/stats.h"

enum chain_stats_counter {
#define CHAIN_COUNTER(id, ...) CHAIN_STATS_##id,
#include "stats/stats.tbl"
	CHAIN_STATS_COUNT
};

enum chain_stats_histogram {
#define CHAIN_HISTOGRAM(id, ...) CHAIN_STATS_HISTOGRAM_##id,
#include "stats/stats.tbl"
	CHAIN_STATS_HISTOGRAM_COUNT
};

struct chain_stats;			/* of a generation */

/* The numbers of one chain, at one time. */
struct chain_stats_numbers {
	const char	*name;		/* visible UTF-8 */
	uint64_t	 counters[CHAIN_STATS_COUNT];
	struct histogram histograms[CHAIN_STATS_HISTOGRAM_COUNT];
};

/* Monitor: makes the numbers of n chains, whose names differ, by their places
 * in the conf.  Copies the names. */
struct chain_stats *chain_stats_new(const char *const *names, size_t n);
void	chain_stats_free(struct chain_stats **);

/* From now on the calls below, in this process, are about these numbers; NULL:
 * they do nothing.  Main, control child; to be called before there are
 * threads. */
void	chain_stats_use(struct chain_stats *);
void	chain_stats_add(size_t chain, enum chain_stats_counter);
void	chain_stats_time(size_t chain, enum chain_stats_histogram, int64_t us);
/* Reads the numbers of a chain; false: there is no chain of this number. */
bool	chain_stats_read(size_t chain, struct chain_stats_numbers *);

/*
 * Reloads of chains by an administrator have one count for all chains.  A
 * result counts if its chain was not reloaded after its run began.
 */
void	chain_stats_reload(size_t chain);
uint64_t chain_stats_start(void);	/* of the server: another number each
					 * time, as the count begins anew */
uint64_t chain_stats_reloads(void);	/* so far */
uint64_t chain_stats_reloaded(size_t chain);	/* the count after the last
						 * reload; 0: none */
int64_t	chain_stats_reloaded_at(void);	/* the last of all: clock ms */

#endif
