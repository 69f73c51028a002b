/*
 * reopen: opens the logs again, at USR1 or as a client of the control socket
 * wants, and changes running processes over to them.
 */
#ifndef MONITOR_REOPEN_H
#define MONITOR_REOPEN_H

#include <stdbool.h>

struct generation;

/* Starts the log programs of the first generation, and the error logger. */
void	reopen_start_loggers(struct generation *);
/* Opens all logs that are files again, by their names, and starts log programs
 * anew.  A log that cannot be opened stays as it is. */
void	reopen_begin(void);
/* Whether logs are being opened.  Such a log may have been opened just before
 * its file was moved away, so the next reopen comes after this one. */
bool	reopen_is_busy(void);

#endif
