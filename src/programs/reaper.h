/*
 * reaper: a process that starts one program, and ends all that the program has
 * started.
 *
 * Descendants of the program stay the reaper's, so none escapes by a session of
 * its own or the death of its parent.  The reaper may block, and does not need
 * the manager: at the end of its pipe it ends the program.
 */
#ifndef PROGRAMS_REAPER_H
#define PROGRAMS_REAPER_H

#include <stdint.h>

#include "programs/execute.h"

#define REAPER_GRACE	3000	/* ms from SIGTERM to SIGKILL */

enum reaper_report_kind {
	REAPER_EXECUTED,		/* value: its process id */
	REAPER_FAILED,			/* an errno */
	REAPER_ENDED			/* status, as of waitpid(2); what it has
					 * started may still run */
};

struct reaper_report {
	uint32_t	kind;		/* enum reaper_report_kind */
	int32_t		value;
};

/* Forks a reaper, which starts the program.  Returns a pipe that does not block
 * and is the caller's, or -1 with errno.  SIGCHLD must be ignored. */
int	reaper_start(const struct execute *);
/* Receives a report.  1; 0: the reaper has ended, and so has all that the
 * program has started; -1 with errno (EAGAIN: there is none). */
int	reaper_recv(int pipe, struct reaper_report *);
/* Has it send SIGTERM to all that the program has started and, to what is left
 * after REAPER_GRACE, SIGKILL. */
void	reaper_end(int pipe);

#endif
