/*
 * scoreboard: the counters of all mains, in memory that outlives them.
 *
 * Each main, and each thread of a main, counts in a slot of its own.  When a
 * main ends, the monitor adds its slots to a sum, so no count is lost when main
 * dies or another main takes over.  The monitor has counters there, too.  Main
 * writes its slots, so the monitor takes their content as mere numbers.
 */
#ifndef STATS_SCOREBOARD_H
#define STATS_SCOREBOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "stats/stats.h"

#define SCOREBOARD_NONE	(-1)	/* no slot: counts of one process alone */

/* Monitor: makes the scoreboard; to be called before any main is started. */
void	scoreboard_open(void);
/* Monitor: reserves n empty slots in a row for a main of a generation: for its
 * first thread, and for each other thread that counts.  Returns the first, or
 * SCOREBOARD_NONE. */
int	scoreboard_alloc(unsigned generation, unsigned n);
/* Monitor: adds the slots of a main that has ended to the sum, and empties
 * them. */
void	scoreboard_retire(int slot, unsigned n);
/* Monitor: retires the slots, and lets other mains have them. */
void	scoreboard_free(int slot, unsigned n);
/* Monitor: the conf of this number has come into force. */
void	scoreboard_set_conf(int64_t number);

/* Monitor: among how many mains the limits of the server are divided. */
void	scoreboard_set_shares(unsigned);
/* Monitor: how many mains there may be, if their number changes, else 0; and
 * the mean utilisation of their loops, in millionths. */
void	scoreboard_set_utilisation(unsigned max, uint32_t);
/* Monitor: how long the iterations of the loops that count in that slot have
 * taken, in us. */
uint64_t scoreboard_loop_time(int slot);
/* Main: the last number of scoreboard_set_shares(), or 0. */
unsigned scoreboard_shares(void);

/* Monitor: the server is about to end. */
void	scoreboard_set_leaving(void);

/* Whether the server is about to end; in any process. */
bool	scoreboard_is_leaving(void);
/* Main: lets its first thread count in a slot. */
void	scoreboard_attach(int slot);
/* Main: lets the calling thread count in the slot that stands so far behind. */
void	scoreboard_attach_thread(unsigned number);
/* The counts of all mains; without a scoreboard, of this process. */
void	scoreboard_sum(struct stats_slot *);
/* The counts in the n slots of this main. */
void	scoreboard_sum_main(struct stats_slot *, unsigned n);
/* Fills in the gauges that the monitor knows. */
void	scoreboard_measure(time_t now);
/* Publishes this main's gauges for the others of its generation, and adds the
 * gauges that the others have published to this main's. */
void	scoreboard_merge(void);
/* Publishes how many connections this main has. */
void	scoreboard_publish_open(size_t);
/* The fewest connections of another main of the generation; SIZE_MAX: there is
 * no other main. */
size_t	scoreboard_min_open(void);

#endif
