/*
 * reload: reads the conf again, and starts a generation with it.
 */
#ifndef MONITOR_RELOAD_H
#define MONITOR_RELOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/buf.h"

struct generation;
struct monitor;

/* The state of a reload.  A child, the conf checker, reads the conf before the
 * monitor does, since reading may wait for a file system. */
struct reload {
	pid_t		 pid;		/* of the conf checker; 0: none */
	int		 pipe;		/* brings logs, then the verdict */
	int64_t		 deadline;	/* ms: for the conf checker */
	int		 logs[2];	/* opened by the conf checker, by enum
					 * log_kind; -1: none */
	uint64_t	 name_hashes[2]; /* of the names of these logs */
	bool		 again;		/* reload once more after this one */
	bool		 reopen_logs;	/* open the logs again after this one */
	unsigned	 number;	/* of the last reload that was begun */
	struct buf	 errors;	/* the lines that it has logged */
	bool		 is_conf_error;	/* the conf itself is wrong */
};

void	reload_init(struct reload *);
/* Begins a reload, or notes that one is due after what is under way. */
void	reload_begin(struct monitor *);
/* Whether a reload is under way, or too many generations drain. */
bool	reload_is_busy(const struct monitor *);
/* Reads a message of the conf checker. */
void	reload_on_readable(struct monitor *);
/* Gives up a conf checker that takes too long; begins a reload that is due. */
void	reload_tick(struct monitor *);
/* The new generation serves: drains the one before. */
void	reload_on_ready(struct monitor *, struct generation *);
/* The new generation has ended before it served. */
void	reload_failed(struct monitor *, const char *how);
/* Logs are being opened again.  A reload under way may have opened its logs too
 * early, so it opens them again at its end. */
void	reload_on_reopen(struct monitor *);
/* Gives up a reload. */
void	reload_cancel(struct monitor *);

#endif
