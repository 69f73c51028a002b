/*
 * hot_lists: carries the names that a main serves to the main that takes over
 * from it: at a reload, and at an upgrade to the new monitor; and keeps them in
 * a file over a restart.
 *
 * A main writes its list into a file in memory, which the monitor has made and
 * gives to others as it is.  The list ends with a mark, since main's message
 * may be lost when it dies.  A main that replaces a dead one gets no list: a
 * name may be the cause of its death.
 */
#ifndef MONITOR_HOT_LISTS_H
#define MONITOR_HOT_LISTS_H

#include <stdbool.h>

struct worker;

/* Of a worker's main. */
struct hot_list {
	int	file;		/* -1: none */
	bool	awaited;	/* main is writing it */
};

/* Whether somebody wants the lists of the generation that serves, at the end of
 * the server. */
bool	hot_lists_are_wanted(void);
/* Asks a main that is about to end for its list. */
void	hot_lists_ask(struct worker *);
/* A main has written its list, or has died. */
void	hot_lists_written(struct worker *);
/* In the old monitor: lists go to the new one, through a pipe that it owns. */
void	hot_lists_hand_over(int pipe);
/* In the new monitor: lists come from the old one. */
void	hot_lists_receive(int pipe);

#endif
