/*
 * logs: where logs go, and their descriptors.
 *
 * Lines of the error log go through a pipe, as only the error logger waits for
 * the file system of that log.  The pipe is standard error of all processes, so
 * messages of libraries and of crashes go there too.  It stays open: when an
 * error logger dies, the lines are for the next one.
 */
#ifndef MONITOR_LOGS_H
#define MONITOR_LOGS_H

#include <stdbool.h>

struct conf;
struct generation;

/* A log: LOG_ERRORS, or LOG_ACCESS and, added to it, the number of an access
 * log's target. */
enum {
	LOG_ERRORS,
	LOG_ACCESS
};

/* Where a log goes. */
enum logs_target {
	LOGS_NOWHERE, LOGS_STDOUT, LOGS_STDERR, LOGS_FILE, LOGS_SYSLOG,
	LOGS_PROGRAM
};

/* Two pipes that never block, the reading end first. */
struct logs_errors {
	int	lines[2];	/* lines of the error log */
	int	drops[2];	/* a byte for each line that found no room */
};

extern struct logs_errors	logs_errors;

/* Opens these two pipes; 0, or -1 with errno. */
int	logs_open_errors(void);
/* Opens a large pipe, whose writers do not wait; 0, or -1 with errno. */
int	logs_open_pipe(int fd[2]);
/* Opens a file for appending, and makes it if need be.  Returns a descriptor,
 * or -1 with errno.  May wait for the file system. */
int	logs_open(const char *file);
/*
 * Puts a handle (lib/io.h) in place of a log's descriptor if the log is a file
 * that can be opened again.  Closing a file may wait for its file system, and
 * so may the end of a process that has it open; a handle does neither.
 */
void	logs_use_handle(int *log);

/* Returns the word of the conf for a log; NULL: the log is off. */
const char *logs_name(const struct generation *, unsigned log);
enum logs_target logs_target(const char *name);
/* Returns the socket of a log that goes to syslog. */
const char *logs_syslog_socket(const char *name);
const char *logs_kind_name(unsigned log);
/* The number of logs of a generation. */
unsigned logs_count(const struct generation *);
/* The access log of that name; LOG_ERRORS: there is none. */
unsigned logs_find(const struct generation *, const char *name);
/* Whether a log of the conf goes to such a target. */
bool	logs_has(const struct conf *, enum logs_target);

#endif
