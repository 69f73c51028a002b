/*
 * monitor: the process that keeps the privileges, starts all others, and
 * replaces those that die.  The monitor never reads a byte of a client.
 */
#ifndef MONITOR_MONITOR_H
#define MONITOR_MONITOR_H

#include <stdint.h>
#include <stdio.h>

#include "lib/sd_notify.h"
#include "monitor/generation.h"
#include "monitor/pidfile.h"
#include "monitor/standard_error.h"
#include "monitor/upgrade.h"

/* All that main() prepares. */
struct monitor_setup {
	const char	*conf_file;
	int64_t		 architecture;	/* of -A, for every conf; -1: none */
	int		 helper;	/* the helper program, open */
	int		 error_log;	/* a handle if the log is a file; taken
					 * by reopen_start_loggers() */
	struct standard_error standard_error;
	size_t		 descriptors;	/* limit of open files */
	FILE		*announce;	/* gets a line for each URL, until the
					 * server serves; or NULL */
	const char	*served;	/* the directory, for that line */
	int		 daemon_pipe;	/* to the process that waits until the
					 * server serves; -1: none */
	struct inherited inherited;
	struct sd_notify notify;
	struct pidfile	 pidfile;
	const char	*program;	/* path of the binary, for USR2 */
	char		**arguments;	/* and its arguments */
};

extern struct monitor_setup	prepared;

/* Runs until a signal ends the server; returns the exit status.  Takes the
 * first generation.  The caller has blocked signals. */
int	monitor_run(struct generation *first);

#endif
