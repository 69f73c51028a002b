/*
 * private: what the files of the monitor share.
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

#define END_TIMEOUT		3000	/* ms for children to end by themselves */
#define KILL_TIMEOUT		1000	/* ms for killed ones; what a dead mount holds
				 * in the kernel cannot even be killed */

struct monitor {
	struct monitor_setup	*setup;
	struct children		 children;
	struct generations		 generations;
	struct generation		*serving;
	int			 end_signal;	/* the signal, or 0 */
	int64_t			 deadline;	/* ms, of the end */
	bool			 killed;	/* ... has passed once */
	bool			 announced;
	struct error_pipe		 error_pipe;
	struct {
		int	pipe;		/* open as long as it is to stay */
		pid_t	pid;		/* 0: none */
		int64_t	started_at, next_at;	/* ms; due 0: not at all */
	}			 error_logger;
	struct piped_logs		 piped_logs;	/* that read logs */
	struct openings		 openings;
	bool			 reopen_due;	/* the logs, once more */
	struct reload		 reload;	/* of the conf */
	struct upgrade		 upgrade;
	int			 exit_status;	/* to exit with */
	struct control_server	 control;		/* who asks us */
	unsigned		 last_main_id;	/* how many mains there were */
};

int64_t	 monitor_now(void);			/* ms */
int	 monitor_signal_fd(void);			/* readable: some came */
void	 monitor_close_signals(void);		/* in a child */
/* As by this signal. */
void	 monitor_end(struct monitor *, int signo);
/* We serve, and nobody else does: who asks for us is to find us. */
void	 monitor_take_charge(struct monitor *);
/* A supervisor hears what is served, behind these words. */
void	 monitor_notify_status(const struct monitor *, const char *words);

/*
 * A child with a stream pipe: its end in *pipe in the child, ours in the
 * parent.  0 in the child, -1 when there can be none.  Generation NULL: it is for
 * all.
 */
pid_t	 spawn(struct monitor *, struct generation *, enum role, int *pipe);
/* In such a child: be amped-helper. */
_Noreturn void spawn_helper(struct monitor *, struct generation *, int pipe,
	    enum role);

/* The error logger. */
void	 error_log_start(struct monitor *);
/* Another one, for another log; the one before writes what it has taken. */
void	 error_log_replace(struct monitor *);
void	 error_log_died(struct monitor *, const char *how);
void	 error_log_end(struct monitor *);

/* The mains, each with its worker. */
/* The first in a generation: with all that comes before.  False: they could not be
 * started, and the generation is over, unless it is the one that serves. */
bool	 workers_start(struct monitor *, struct generation *);
/* Its pipe has something to say. */
void	 workers_on_message(struct monitor *, struct worker *);
void	 workers_main_died(struct monitor *, struct worker *, const char *how);
/* They are to be over by then (ms). */
void	 workers_set_deadline(struct generation *, int64_t);
/* They are to end, but with all that they have begun. */
void	 workers_drain(struct monitor *, struct generation *);
/* Nobody new comes to a socket that neither another generation nor anybody else is
 * to serve: see listener_block_new(). */
void	 workers_block_new(const struct monitor *, const struct generation *);
/* A log helper for each main, to go over to. */
void	 workers_new_access_logger(struct monitor *, struct generation *);
/* What is due. */
void	 workers_tick(struct monitor *);
struct worker *workers_find(struct monitor *, pid_t main);
struct generation *workers_find_generation(
    struct monitor *, unsigned generation);

#endif
