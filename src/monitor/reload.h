/*
 * reload: the conf read again, and a new generation by it.
 */
#ifndef MONITOR_RELOAD_H
#define MONITOR_RELOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/buf.h"

struct monitor;
struct generation;

/* A child that reads the conf first, since that may wait. */
struct reload {
	pid_t		 pid;		/* 0: none */
	int		 pipe;		/* brings the logs, then good news */
	int64_t		 deadline;	/* ms */
	int		 logs[2];	/* opened by it, by enum log_kind; -1 */
	uint64_t	 name_hashes[2];	/* of these */
	bool		 again;		/* once more, afterwards */
	bool		 reopen_logs;	/* logs were to be, meanwhile */
	unsigned	 number;	/* of the last that was begun */
	struct buf	 errors;		/* lines: what was, in that one */
	bool		 is_conf_error;	/* and it was the conf itself */
};

void	reload_init(struct reload *);
/* Or as soon as what goes on has come to an end. */
void	reload_begin(struct monitor *);
/* One is under way, or enough have not ended yet. */
bool	reload_is_busy(const struct monitor *);
/* The child has something to say. */
void	reload_on_readable(struct monitor *);
/* What is due. */
void	reload_tick(struct monitor *);
/* The main to come serves: the one before is to end. */
void	reload_on_ready(struct monitor *, struct generation *);
/* ... or has ended. */
void	reload_failed(struct monitor *, const char *how);
/* Logs are opened again: those of a generation to come were opened too early. */
void	reload_on_reopen(struct monitor *);
void	reload_cancel(struct monitor *);

#endif
