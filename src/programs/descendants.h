/*
 * descendants: the processes that a process has started, and these, and so on.
 */
#ifndef PROGRAMS_DESCENDANTS_H
#define PROGRAMS_DESCENDANTS_H

#include <sys/types.h>

#include <stdbool.h>

/* Has this process, in place of init, become the parent of descendants whose
 * parent dies: they stay its descendants, however they start.  Linux only. */
void	descendants_adopt(void);
/* Sends a signal to all descendants of this process.  leader: a child that
 * leads a group, which gets the signal where there is no proc(5).  Does not
 * wait for a disk. */
void	descendants_signal(pid_t leader, int signo);
/* Kills all children of this process but those that is_own() knows, and all
 * descendants of the former.  Returns whether there was one. */
bool	descendants_kill_strangers(bool (*is_own)(const void *, pid_t),
	    const void *context);

#endif
