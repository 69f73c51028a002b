/*
 * child: the monitor's children, from their fork until they are reaped.
 */
#ifndef MONITOR_CHILD_H
#define MONITOR_CHILD_H

#include <sys/types.h>

#include "monitor/events.h"

#define CHILD_KILL_TIMEOUT	1000	/* ms for killed children to end; the
					 * kernel cannot end one that waits for
					 * a dead mount */

struct child;
struct generation;
struct user;

/* Properties that all children of one kind have, in the file that starts them.
 * Functions may be NULL, except run. */
struct child_kind {
	const char	*name;		/* for messages */
	bool		 privileged;	/* opens files that the conf names with
					 * the monitor's rights */
	bool		 generational;	/* has the descriptors of its
					 * generation */
	bool		 monitorial;	/* has all that the monitor has */
	bool		 lasting;	/* does not die with the monitor */
	/* In the child, before it drops its privileges. */
	void		(*prepare)(struct generation *);
	/* In the child, in place of child_become_user() for the generation's
	 * user. */
	void		(*become)(const struct generation *,
			    const void *context);
	/* In the child: does its work, and ends the process.  pipe: to the
	 * monitor. */
	void		(*run)(struct generation *, void *context, int pipe);
	/* The pipe to the child is readable, or has ended. */
	void		(*on_readable)(void *context);
	/* The child is late. */
	void		(*on_timeout)(void *context);
	int64_t		 timeout;	/* ms; 0: none */
	/* The child has ended, and is freed after this.  NULL: the pipe tells
	 * its owner enough, and child_report() the log. */
	void		(*died)(void *context, const struct child *);
};

struct child {
	pid_t			 pid;		/* 0: it has ended */
	const struct child_kind	*kind;
	void			*context;	/* of its owner */
	struct source		 pipe;		/* to it, unless the owner has
						 * taken that */
	struct timer		 timeout;
	bool			 given_up;	/* killed or done: its end is
						 * not waited for */
	bool			 released;	/* has no owner */
	int			 status;	/* once it has died */
	const char		*how;		/* the same in words */
	TAILQ_ENTRY(child)	 link;
};

/* The kinds of process that amped-helper can be. */
enum child_role {
	CHILD_HELPER,
	CHILD_ACCESS_LOGGER,
	CHILD_ERROR_LOGGER
};

/*
 * Forks a child of the generation's user, unless its kind says otherwise.
 * Returns NULL with errno if there can be none; otherwise its owner releases
 * it, unless died() is called before.  pipe: gets the pipe to the child; NULL:
 * the child keeps it, for on_readable().
 */
struct child *child_start(const struct child_kind *, struct generation *,
	    void *context, int *pipe);
/* Forks a child of this process, which need not be the monitor and does not
 * hear of the child's end, or of a fork that fails.  pipe of run(): -1. */
void	child_lend(const struct child_kind *, struct generation *,
	    void *context);
/* In the child: drops privileges; for_good: no file that it executes gives it
 * any. */
void	child_become_user(const struct user *, bool for_good);
/* The owner gets no more calls about its child, which may live on. */
void	child_release(struct child **);
/* The same, and the monitor does not wait for its end. */
void	child_give_up(struct child **);
/* Sends SIGKILL; the monitor does not wait for its end. */
void	child_kill(struct child *);
/* Logs the end of a child that failed and was not given up, unless the server
 * ends. */
void	child_report(const struct child *);
/* Reaps all that have ended. */
void	child_reap(void);

/* In a child that may wait for the log's file system: opens the log again from
 * its handle. */
void	child_reopen_log(int *log, const char *name);
/* In the child: executes amped-helper in that role, for that generation's conf.
 * fd: the error logger's log, the notify descriptor of a helper's main, or
 * -1. */
_Noreturn void child_execute(const struct generation *, enum child_role,
	    int pipe, int fd);

/* Sends SIGKILL to all children that the end of the server awaits. */
void	child_kill_all(void);
/* Counts children that the end of the server awaits and that were given up, or
 * were not. */
size_t	child_count(bool given_up);
/* Reaps children of a lasting kind until none is left that has an owner, for a
 * second at most. */
void	child_await(const struct child_kind *);

#endif
