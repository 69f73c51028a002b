/*
 * children: the processes that the monitor has started and not reaped yet.
 *
 * A record has the function of its owner that is told of the child's death.
 */
#ifndef MONITOR_CHILDREN_H
#define MONITOR_CHILDREN_H

#include <sys/queue.h>
#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

#define CHILDREN_KILL_TIMEOUT	1000	/* ms for killed children to end; the
					 * kernel cannot end one that waits for
					 * a dead mount */

struct generation;

/* Properties that all children of one kind have, in the file that starts them.
 */
struct child_kind {
	const char	*name;		/* for messages */
	bool		 privileged;	/* opens files that the conf names with
					 * the monitor's rights */
	bool		 generational;	/* has the descriptors of its
					 * generation */
	bool		 monitorial;	/* has all that the monitor has */
	bool		 lasting;	/* does not die with the monitor */
	/* In the child, before it drops its privileges; or NULL. */
	void		(*prepare)(struct generation *);
};

struct child {
	pid_t			 pid;
	const struct child_kind	*kind;
	void			(*died)(void *, const struct child *);
	void			*context;
	bool			 given_up;	/* killed or done: its end is
						 * not waited for */
	bool			 awaited;	/* by the end of the server */
	int			 status;	/* once it has died */
	const char		*how;		/* the same in words */
	TAILQ_ENTRY(child)	 link;
};

/* Adds a record.  died: is told of the child's end; NULL: children_report(). */
void	children_add(pid_t, const struct child_kind *,
	    void (*died)(void *, const struct child *), void *context);
/* Logs the end of a child that failed and was not given up. */
void	children_report(const struct child *);
/* Reaps all that have ended. */
void	children_reap(void);
/* Reaps children of that kind which their owner awaits, until none is left, for
 * a second at most. */
void	children_await(const struct child_kind *);

/* The owner no longer hears of its child, which may live on.  awaited: whether
 * the end of the server awaits and kills it. */
void	children_disown(pid_t, bool awaited);
/* Gives a child up: the monitor does not wait for its end. */
void	children_give_up(pid_t);
/* The server ends: the end of a child is no longer reported. */
void	children_be_quiet(void);
/* Sends SIGKILL to all children that the end of the server awaits. */
void	children_kill_all(void);
/* Whether there are children that the end of the server awaits. */
bool	children_are_left(void);
bool	children_all_given_up(void);
/* Forgets all children that the end of the server awaits. */
void	children_forget(void);

#endif
