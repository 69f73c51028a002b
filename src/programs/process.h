/*
 * process: a process of a program with all that it starts, by its reaper, and
 * its standard error as lines of the error log.
 */
#ifndef PROGRAMS_PROCESS_H
#define PROGRAMS_PROCESS_H

#include "programs/admission.h"
#include "programs/reaper.h"

struct process {
	struct admission	*admission;
	/* Gets each report, and with EXECUTED the pipe of the output or -1;
	 * NULL: all has ended, and process_free() is due. */
	void			(*tell)(struct process *,
				    const struct reaper_report *, int output);
	struct reaper_pipe	*reaper;	/* NULL: none yet, or no more */
	struct error_lines	 lines;
	char			*name;		/* for lines; owned */
	pid_t			 pid;		/* 0: not known yet */
	bool			 has_failed;
};

/* Reapers that have no program are kept for some seconds. */
void	process_open_idle(struct manager *);
void	process_close_idle(struct manager *);
/* Sets all; file: see struct backend_start. */
void	process_init(struct process *, struct admission *, struct str file,
	    void (*tell)(struct process *, const struct reaper_report *, int));
/* Starts a program, which is set here.  0, or -1 with errno: then only
 * process_log_failure() and process_free() are possible. */
int	process_start(struct process *, const struct execute *);
/* Has the reaper end the process and all that it has started; at last, tell()
 * is called. */
void	process_end(const struct process *);
/* Closes and frees what it has, but not itself. */
void	process_free(struct process *);
/* Logs that a process could not be started. */
void	process_log_failure(struct process *, int error);
/* Counts its end by a signal, unless it was told to end and the signal follows
 * from that. */
void	process_count_end(const struct process *, int status, bool was_told);
/* Logs the status with which a process has ended, unless that is 0. */
void	process_log_status(struct process *, int status);

#endif
