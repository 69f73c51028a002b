/*
 * reopen: opens the logs again, at USR1 or as a client of the control socket
 * wants, and changes running processes over to them.
 */
#ifndef MONITOR_REOPEN_H
#define MONITOR_REOPEN_H

struct generation;

struct reopen_calls {
	void	(*begins)(void);
	void	(*failed)(const char *log);	/* which stays as it was */
	void	(*ended)(void);
};

void	reopen_init(const struct reopen_calls *);
/* Starts the log programs of the first generation. */
void	reopen_start_programs(struct generation *);
/* Opens all logs that are files again, by their names, and starts log programs
 * anew.  A log that cannot be opened stays as it is. */
void	reopen_begin(void);

#endif
