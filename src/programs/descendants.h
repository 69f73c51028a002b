/*
 * descendants: the processes that a process has started, and these, and so on.
 */
#ifndef PROGRAMS_DESCENDANTS_H
#define PROGRAMS_DESCENDANTS_H

#include <sys/types.h>

/* Has this process, in place of init, become the parent of descendants whose
 * parent dies: they stay its descendants, however they start.  Linux only. */
void	descendants_adopt(void);
/* Sends a signal to all descendants of this process.  leader: a child that
 * leads a group, which gets the signal where there is no proc(5).  Does not
 * wait for a disk. */
void	descendants_signal(pid_t leader, int signo);

#endif
