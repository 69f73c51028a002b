/*
 * piped_log: what is to read a log from a pipe ("|program"), and is started
 * again when it ends.
 *
 * The pipe outlives it: what it has not read the next one does.  Who writes
 * never waits.  One that nobody writes to any more finds the end of its input,
 * and is not waited for.
 */
#ifndef MONITOR_PIPED_LOG_H
#define MONITOR_PIPED_LOG_H

#include <sys/queue.h>
#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

struct monitor;
struct generation;

struct piped_log {
	char			*command;		/* as the conf has it */
	bool			 has_errors;	/* reads the error log */
	int			 pipe[2];	/* -1: it has been left */
	pid_t			 pid;		/* 0: does not run */
	int64_t			 started_at, next_at;	/* ms; due 0: never */
	int			 backoff;	/* ms */
	TAILQ_ENTRY(piped_log)	 link;
};

TAILQ_HEAD(piped_logs, piped_log);

/* A descriptor for writing to it; -1 with errno.  One that does not run yet is
 * started, as the user of that generation. */
int piped_log_open(struct monitor *, struct generation *, const char *command);
/* A child has died: whether it was one of them. */
bool	piped_log_died(struct monitor *, pid_t, const char *how);
/* Starts what is due, leaves what nobody wants. */
void	piped_log_tick(struct monitor *);
int64_t	piped_log_next_at(const struct monitor *);	/* ms; 0: never */
/* Leaves those that run: who is asked for next is another one.  One that waits
 * to be started is that now. */
void	piped_log_renew(struct monitor *);
/* In a child that has nothing to do with them. */
void	piped_log_close_all(struct monitor *);
/* All has been written: each is given a moment to read it. */
void	piped_log_end(struct monitor *);

#endif
