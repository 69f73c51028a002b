/*
 * piped_log: log programs ("|program" in the conf), which read a log from a
 * pipe and are started again when they end.
 *
 * The pipe outlives the program: lines that one program has not read are for
 * the next one.  Writers never wait for a program.  A program whose log is no
 * longer in use finds the end of its input, and its end is not waited for.
 */
#ifndef MONITOR_PIPED_LOG_H
#define MONITOR_PIPED_LOG_H

#include <sys/queue.h>
#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

struct generation;
struct monitor;

struct piped_log {
	char			*command;	/* owned, as in the conf */
	bool			 has_errors;	/* true: the error log */
	int			 pipe[2];	/* -1: closed */
	pid_t			 pid;		/* of the program; 0: none */
	int64_t			 started_at;	/* ms */
	int64_t			 next_at;	/* ms: next start; 0: never */
	int			 backoff;	/* ms */
	TAILQ_ENTRY(piped_log)	 link;
};

TAILQ_HEAD(piped_logs, piped_log);

/* Returns a descriptor that writes to a program, or -1 with errno.  Starts the
 * program, as the generation's user, unless it is there already. */
int	piped_log_open(struct monitor *, struct generation *,
	    const char *command);
/* A child has died: returns whether it was a log program. */
bool	piped_log_died(struct monitor *, pid_t, const char *how);
/* Starts programs whose time has come; closes logs that no conf names. */
void	piped_log_tick(struct monitor *);
/* Returns when the next program is to be started (ms), or 0. */
int64_t	piped_log_next_at(const struct monitor *);
/* Closes the logs of running programs, so that piped_log_open() starts others.
 * A program that waits to be started is started at once. */
void	piped_log_renew(struct monitor *);
/* Closes all descriptors, in a child that does not need them. */
void	piped_log_close_all(struct monitor *);
/* At the end of the server: closes all logs, and gives each program a moment to
 * read the rest. */
void	piped_log_end(struct monitor *);

#endif
