/*
 * standard_error: standard error as amped was started with it.
 *
 * In the foreground, amped keeps it.  In the background, amped keeps it while a
 * log of the conf in force goes there, and then gives it up for good: a process
 * that has started amped may wait for its end (a pipe, ssh).  Standard output
 * is for logs in the foreground only.
 */
#ifndef MONITOR_STANDARD_ERROR_H
#define MONITOR_STANDARD_ERROR_H

#include <stdbool.h>

#include "monitor/logs.h"

struct standard_error {
	int	fd;		/* /dev/null after it was given up */
	bool	background;	/* amped runs in the background */
	bool	given_up;
};

/* Takes the descriptor that the monitor before has passed, or our own.
 * background: amped will go there. */
void	standard_error_open(bool background);
/* A copy of standard output, or for any other target of standard error, which
 * the caller owns; -1 with errno. */
int	standard_error_copy(enum logs_target);
/* Whether processes that are started for this conf may write there. */
bool	standard_error_is_for(const struct conf *);
/* Returns false after a line in the log if the conf has a log go there and it
 * was given up, or to standard output in the background. */
bool	standard_error_is_allowed(const struct conf *);
/* A conf is in force: gives standard error up if that conf does not use it. */
void	standard_error_settle(const struct conf *);

#endif
