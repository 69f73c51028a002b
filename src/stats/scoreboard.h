/*
 * scoreboard: the counters of all mains, in memory that outlives them.
 *
 * Each main, and each thread of one, has a part of its own to count in, and
 * what those have left that ended is added up by the monitor, which counts
 * there, too.  So nothing that
 * has been counted is lost when main dies or another one takes over.  What is
 * in a part comes from its main, and is nothing but numbers to the monitor.
 */
#ifndef STATS_SCOREBOARD_H
#define STATS_SCOREBOARD_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "stats/stats.h"

#define SCOREBOARD_NONE	(-1)	/* a part that counts for its own main only */

/* The monitor's: before there is any main. */
void	scoreboard_open(void);
/* So many parts in a row, empty, for the mains of a worker of this generation: one
 * for main itself, and one for each other thread that counts.  The first of
 * them, or SCOREBOARD_NONE. */
int	scoreboard_alloc(unsigned generation, unsigned n);
/* Their main has ended: what it has counted is kept. */
void	scoreboard_retire(int part, unsigned n);
void	scoreboard_free(int part, unsigned n);	/* nobody needs them any more */
/* The conf of that number has come into force. */
void	scoreboard_set_conf(int64_t number);

/* Main's: where it counts. */
void	scoreboard_attach(int part);
/* In a thread of main's: it counts in the part that stands so far behind. */
void	scoreboard_attach_thread(unsigned number);
/* All that has been counted; without a scoreboard, by this process. */
void	scoreboard_sum(struct stats_slot *);
/* What this main has, with so many parts. */
void	scoreboard_sum_main(struct stats_slot *, unsigned n);
/* The gauges that the monitor knows of, at this time. */
void	scoreboard_measure(time_t now);
/* Leaves a copy of this main's gauges for the others of its generation, and adds
 * theirs to them, which are as old as their last look. */
void	scoreboard_merge(void);
/* So many connections this main has, for the others of its generation. */
void	scoreboard_publish_open(size_t);
/* Those of the one that has fewest of these others; SIZE_MAX: there is none. */
size_t	scoreboard_min_open(void);

#endif
