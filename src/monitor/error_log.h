/*
 * error_log: the error logger, which is replaced when it dies or its log
 * changes.
 */
#ifndef MONITOR_ERROR_LOG_H
#define MONITOR_ERROR_LOG_H

/* Takes another log, and starts another error logger for it.  The present one
 * writes the lines that it has read, and ends. */
void	error_log_use(int log);
/* Closes the log, in a process that does not write it. */
void	error_log_close(void);

#endif
