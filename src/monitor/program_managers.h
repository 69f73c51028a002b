/*
 * program_managers: the process of each generation that starts programs
 * (src/programs).
 *
 * A manager ends when the mains and, as these drain, the monitor have closed
 * its socket.  If it dies, the mains get the socket of another one, by the
 * channel (PROGRAMS).
 */
#ifndef MONITOR_PROGRAM_MANAGERS_H
#define MONITOR_PROGRAM_MANAGERS_H

#include <stdint.h>

#include "monitor/events.h"

struct child;
struct generation;
struct program_stats;

struct program_manager {
	struct child	*child;		/* NULL: none */
	int		 socket;	/* to it, of mains; -1: none */
	int64_t		 started_at;	/* ms */
	struct program_stats *stats;	/* owned; NULL: there are no programs */
	struct timer	 restart;
	int		 backoff;	/* ms */
};

/* Starts the manager of a generation whose conf has programs, before its mains,
 * and another one whenever it dies. */
void	program_managers_start(struct generation *);
/* The generation's mains have its manager; no other main will.  The manager
 * ends with the last of them. */
void	program_managers_leave(struct generation *);
/* The generation ends.  Its manager may live on until programs have ended. */
void	program_managers_release(struct generation *);

#endif
