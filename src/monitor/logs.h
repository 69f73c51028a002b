/*
 * logs: the descriptors of the logs, and how running processes change over to
 * a log that has been opened again.
 */
#ifndef MONITOR_LOGS_H
#define MONITOR_LOGS_H

#include <sys/queue.h>
#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

struct generation;
struct monitor;

enum log_kind {
	LOG_ACCESS,
	LOG_ERRORS
};

/* Where a log goes. */
enum logs_target {
	LOGS_NOWHERE, LOGS_STDERR, LOGS_FILE, LOGS_SYSLOG, LOGS_PROGRAM
};

/* A log that a child opens, since open(2) may wait for a file system. */
struct opening {
	pid_t			 pid;		/* of the log opener */
	int			 pipe;		/* brings the descriptor */
	enum log_kind		 kind;
	unsigned		 generation;	/* of an access log */
	int64_t			 deadline;	/* ms */
	TAILQ_ENTRY(opening)	 link;
};

TAILQ_HEAD(openings, opening);

/* Opens a file for appending, and makes it if need be.  Returns a descriptor,
 * or -1 with errno.  May wait for the file system. */
int	logs_open(const char *file);
/*
 * Puts a handle (lib/io.h) in place of a log's descriptor if the log is a file
 * that can be opened again.  Closing a file may wait for its file system, and
 * so may the end of a process that has it open; a handle does neither.
 */
void	logs_use_handle(int *log);

/* Whether a log is being opened again, or will be. */
bool	logs_are_reopening(const struct monitor *);

/* Returns the word of the conf for a log; NULL: the log is off. */
const char *logs_name(const struct generation *, enum log_kind);
enum logs_target logs_target(const char *name);
/* Returns the socket of a log that goes to syslog. */
const char *logs_syslog_socket(const char *name);

/* Starts the log programs of the first generation. */
void	logs_start_programs(struct monitor *);

/* Opens all logs that are files again, by their names, and starts log programs
 * anew.  A log that cannot be opened stays as it is. */
void	logs_reopen(struct monitor *);
/* A log opener has sent a descriptor or ended. */
void	logs_on_opened(struct monitor *, struct opening *);
/* Gives up openings that take too long. */
void	logs_tick(struct monitor *);
/* Gives up all openings. */
void	logs_cancel(struct monitor *);

#endif
