/*
 * workers: the mains, from their start to their death, and with them the life
 * of each generation, a table of states and events (life.tbl).
 */
#ifndef MONITOR_WORKERS_H
#define MONITOR_WORKERS_H

#include "monitor/generation.h"

#define WORKERS_END_TIMEOUT	3000	/* ms for mains to end when told to */

/* Starts the mains of the generation that serves, or of a new one, which serves
 * when all its mains do.  A new one that cannot be started is freed. */
void	workers_start(struct generation *);
/* Another generation serves.  Each main finishes its responses and ends. */
void	workers_replace(struct generation *);
/* Starts one more main of the generation that serves.  False: too many still
 * drain. */
bool	workers_add(struct generation *);
/* Lets one main of the generation that serves drain, and end. */
void	workers_retire(struct generation *);
/* Whether a generation starts, or too many drain. */
bool	workers_are_busy(void);

#endif
