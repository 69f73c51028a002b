/*
 * private: struct monitor, and functions that only files of the monitor call.
 */
#ifndef MONITOR_PRIVATE_H
#define MONITOR_PRIVATE_H

#include "monitor/children.h"
#include "monitor/control_server.h"
#include "monitor/error_pipe.h"
#include "monitor/logs.h"
#include "monitor/monitor.h"
#include "monitor/piped_log.h"
#include "monitor/reload.h"

#define END_TIMEOUT	3000	/* ms for children to end when told to */
#define KILL_TIMEOUT	1000	/* ms for killed children to end; the kernel
				 * cannot end one that waits for a dead
				 * mount */

struct monitor {
	struct monitor_setup	*setup;
	struct children		 children;
	struct generations	 generations;
	struct generation	*serving;	/* in generations */
	int			 end_signal;	/* ends the server; 0: none */
	int64_t			 deadline;	/* ms: of that end */
	bool			 killed;	/* children that were left at
						 * the deadline */
	bool			 announced;
	struct error_pipe	 error_pipe;
	struct {
		int	pipe;		/* its end tells the process to end */
		pid_t	pid;		/* 0: none */
		int64_t	started_at;	/* ms */
		int64_t	next_at;	/* ms: next start; 0: never */
	}			 error_logger;
	struct piped_logs	 piped_logs;
	struct openings		 openings;
	bool			 reopen_due;	/* all logs, once more */
	struct reload		 reload;
	struct upgrade		 upgrade;
	int			 exit_status;
	struct control_server	 control;
	unsigned		 last_main_id;	/* of the main started last */
};

int64_t	 monitor_now(void);			/* ms */
/* Returns a descriptor that is readable after a signal. */
int	 monitor_signal_fd(void);
/* Closes the pipe of signals, in a child. */
void	 monitor_close_signals(void);
/* Ends the server as this signal does. */
void	 monitor_end(struct monitor *, int signo);
/* No other monitor serves now: writes the pid file and tells the
 * supervisor. */
void	 monitor_take_charge(struct monitor *);
/* Tells the supervisor what is served, behind these words. */
void	 monitor_notify_status(const struct monitor *, const char *words);

/*
 * Forks a child with a stream pipe: *pipe is its end in the child and the
 * monitor's end in the monitor.  Returns 0 in the child, and -1 if there can be
 * none.  The generation is NULL for a child that serves all.
 */
pid_t	 spawn(struct monitor *, struct generation *, enum role, int *pipe);
/* In the child: executes amped-helper in that role. */
_Noreturn void spawn_helper(struct monitor *, struct generation *, int pipe,
	    enum role);

/* Starts the error logger. */
void	 error_log_start(struct monitor *);
/* Starts another error logger, for another log.  The present one writes the
 * lines that it has read, and ends. */
void	 error_log_replace(struct monitor *);
void	 error_log_died(struct monitor *, const char *how);
/* At the end of the server: lets the error logger write all lines. */
void	 error_log_end(struct monitor *);

/* Starts the mains of a new generation, with all that they share.  If a main of
 * a STARTING generation cannot be started, frees the generation and returns
 * false. */
bool	 workers_start(struct monitor *, struct generation *);
/* Reads a message from a main, or the end of its channel. */
void	 workers_on_message(struct monitor *, struct worker *);
/* A main has ended or was given up. */
void	 workers_main_died(struct monitor *, struct worker *, const char *how);
/* Sets the time (ms) at which the mains are given up; 0: none. */
void	 workers_set_deadline(struct generation *, int64_t);
/* Tells the mains to finish their responses and end. */
void	 workers_drain(struct monitor *, struct generation *);
/* Blocks new connections at sockets that no other generation and no other
 * process serves; see listener_block_new(). */
void	 workers_block_new(const struct monitor *, const struct generation *);
/* Gives each main another access logger. */
void	 workers_new_access_logger(struct monitor *, struct generation *);
/* Starts mains, and gives mains up, whose time has come. */
void	 workers_tick(struct monitor *);
struct worker *workers_find(struct monitor *, pid_t main);
struct generation *workers_find_generation(struct monitor *, unsigned number);

#endif
