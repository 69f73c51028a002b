/*
 * workers: the mains, from their start to their death, and with them the life
 * of each generation, a table of states and events (life.tbl).
 */
#ifndef MONITOR_WORKERS_H
#define MONITOR_WORKERS_H

#include "monitor/generation.h"

#define WORKERS_END_TIMEOUT	3000	/* ms for mains to end when told to */

struct workers_calls {
	/* All mains of a generation serve: one that starts, or the serving one
	 * again. */
	void	(*serves)(struct generation *);
	/* A generation has ended before it served. */
	void	(*failed)(const char *how);
	/* The generation that a reload has replaced accepts no more. */
	void	(*in_force)(unsigned reload);
	/* A main of the serving generation has died: true if the server ends,
	 * as it never served. */
	bool	(*ends_server)(const char *how);
	/* In a main: closes what only other processes have. */
	void	(*in_main)(void);
};

/* descriptors: the limit of open files of a main. */
void	workers_init(const struct workers_calls *, size_t descriptors);
/* Starts the mains of the generation that serves, or of a new one, which serves
 * when all its mains do; that one is freed if it cannot be started. */
void	workers_start(struct generation *);
/* Another generation serves.  Each main finishes its responses and ends. */
void	workers_replace(struct generation *);
/* Ends all mains by a signal. */
void	workers_end(int signo);
/* Gives each main another access logger. */
void	workers_replace_loggers(struct generation *);
/* Whether a generation starts; the same, or too many drain. */
bool	workers_are_starting(void);
bool	workers_are_busy(void);

#endif
