/*
 * spawn: forks the monitor's children.
 */
#ifndef MONITOR_SPAWN_H
#define MONITOR_SPAWN_H

#include <sys/types.h>

#include "monitor/children.h"

/* The kinds of process that amped-helper can be. */
enum helper_role {
	HELPER_JOBS,
	HELPER_ACCESS_LOG,
	HELPER_ERROR_LOG
};

/* Takes the program amped-helper, open.  leave: in a child, closes all
 * descriptors of the components. */
void	spawn_init(int helper, void (*leave)(void));
/*
 * Forks a child with a stream pipe: *pipe is its end in the child and the
 * monitor's end in the monitor.  Returns 0 in the child, and -1 if there can be
 * none.  The child is of the generation's user unless it is privileged.  died
 * and its context: children_add().
 */
pid_t	spawn(const struct child_kind *, struct generation *, int *pipe,
	    void (*died)(void *, const struct child *), void *context);
/* In a child that may wait for the log's file system: opens the log again from
 * its handle. */
void	spawn_reopen_log(int *log, const char *name);
/* In the child: executes amped-helper in that role, for that generation's conf.
 * log: the descriptor that a logger writes to, or -1. */
_Noreturn void spawn_helper(const struct generation *, enum helper_role,
	    int pipe, int log);
/* In a main, which must not start helpers. */
void	spawn_close_helper(void);

#endif
