/*
 * reaper: a process that starts programs, one at a time, and ends all that a
 * program has started.
 *
 * Descendants of a program stay the reaper's, so none escapes by a session of
 * its own or the death of its parent.  The reaper may block, and does not need
 * the manager: at the end of its pipe it ends the program, and then itself.
 *
 * The functions are the manager's, and none blocks.  The manager must kill a
 * reaper that hangs in a file system before it has told EXECUTED.
 */
#ifndef PROGRAMS_REAPER_H
#define PROGRAMS_REAPER_H

#include <stdint.h>

#include "programs/execute.h"

#define REAPER_GRACE	3000	/* ms from SIGTERM to SIGKILL */

enum reaper_report_kind {
	REAPER_EXECUTED,		/* value: its process id */
	REAPER_NOTES,			/* file for those of a filter */
	REAPER_FAILED,			/* an errno; see execute_prepare() */
	REAPER_ENDED,			/* status, as of waitpid(2); what it has
					 * started may still run */
	REAPER_IDLE,			/* all has ended: the next program may
					 * be started */
	REAPER_ENDED_IDLE		/* both */
};

struct reaper_report {
	uint32_t	kind;		/* enum reaper_report_kind */
	int32_t		value;
	uint64_t	version;	/* EXECUTED: see struct execute */
};

/* Forks a reaper; what its programs write to standard error goes to the pipe
 * errors, which is borrowed.  Returns a pipe that does not block and is the
 * caller's, or -1 with errno.  SIGCHLD must be ignored. */
int	reaper_fork(const struct conf *, int errors, pid_t *pid);
/* Has an idle reaper start a program.  0, or -1 with errno: it has ended. */
int	reaper_start(int pipe, const struct conf *, const struct execute *);
/* Receives a report, and a descriptor, which is the caller's (-1: none): with
 * EXECUTED the pipe of the program's output, which does not block, or a
 * filter's file; with NOTES their file.  Returns 1; 0: the reaper and all that
 * the program has started have ended; -1 with errno (EAGAIN: no report). */
int	reaper_recv(int pipe, struct reaper_report *, int *output);
/* Has the reaper send SIGTERM to all that the program has started and, to what
 * is left after REAPER_GRACE, SIGKILL. */
void	reaper_end(int pipe);

#endif
