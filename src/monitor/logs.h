/*
 * logs: the descriptors of the logs, and how they are opened again while all
 * goes on.
 */
#ifndef MONITOR_LOGS_H
#define MONITOR_LOGS_H

#include <sys/queue.h>
#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

struct monitor;
struct generation;

enum log_kind {
	LOG_ACCESS,
	LOG_ERRORS
};

/* Where a log goes. */
enum logs_target {
	LOGS_NOWHERE, LOGS_STDERR, LOGS_FILE, LOGS_SYSLOG, LOGS_PROGRAM
};

/* A log that a child opens, since that may wait. */
struct opening {
	pid_t			 pid;
	int			 pipe;		/* brings the descriptor */
	enum log_kind		 kind;
	unsigned		 generation;		/* whose access log */
	int64_t			 deadline;	/* ms */
	TAILQ_ENTRY(opening)	 link;
};

TAILQ_HEAD(openings, opening);

/* A file by its name, for appending; -1 with errno. */
int	logs_open(const char *file);
/*
 * To close a file may wait for its file system, and so may ending with it: the
 * monitor has handles of its logs in place of files.  What is no file, or may
 * not be opened again, stays as it is.
 */
void	logs_use_handle(int *log);

/* Whether any is being opened again, or is to be. */
bool	logs_are_reopening(const struct monitor *);

/* What the conf says of a log; NULL: it is off. */
const char *logs_name(const struct generation *, enum log_kind);
enum logs_target logs_target(const char *name);
/* Of the system's log. */
const char *logs_syslog_socket(const char *name);

/* Those of the first generation that no file is: programs are started. */
void	logs_start_programs(struct monitor *);

/* All that are files, by their names; whatever fails stays as it is. */
void	logs_reopen(struct monitor *);
/* A child has something to say. */
void	logs_on_opened(struct monitor *, struct opening *);
/* Gives up those that take too long. */
void	logs_tick(struct monitor *);
/* Takes no more answers. */
void	logs_cancel(struct monitor *);

#endif
