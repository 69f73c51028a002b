/*
 * stats: counters, from stats.tbl.  One process, one loop: plain numbers.
 */
#ifndef STATS_H
#define STATS_H

#include <stdint.h>
#include <stdio.h>

enum stats_counter {
#define COUNTER(id, name, help) STATS_##id,
#include "stats.tbl"
#undef COUNTER
	STATS_COUNT
};

extern uint64_t	stats[STATS_COUNT];

const char	*stats_name(enum stats_counter);
/* name, tab, help: a line each, for the manual's test. */
void		 stats_list(FILE *);

#endif
