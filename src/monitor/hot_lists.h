/*
 * hot_lists: gives the list of hot names of a main to the main that takes over
 * from it, at a reload and, by the new monitor, at an upgrade; and to a main
 * that is started while others serve, or after a main has died.  Keeps the
 * names in a file over a restart.
 *
 * A main writes its list into a file in memory, which the monitor has made and
 * gives to other mains unread.  The list ends with a mark, because the message
 * that it is complete is lost if main dies.  If no other main serves, a new
 * main gets the list that has come last.
 */
#ifndef MONITOR_HOT_LISTS_H
#define MONITOR_HOT_LISTS_H

#include <stdbool.h>

struct worker;

/* Of a worker's main. */
struct hot_list {
	int	file;		/* -1: none */
	bool	awaited;	/* main is writing it */
	bool	for_disk;	/* for the file on disk, too */
	bool	wanted;		/* main waits for the list of another */
};

/* Whether the lists of the generation that serves have a use at the end of the
 * server: for a file, or for a new monitor. */
bool	hot_lists_are_wanted(void);
/* Asks a main that is about to end for its list. */
void	hot_lists_ask(struct worker *);
/* Gives a main of the generation that serves the list of another, as soon as
 * there is one. */
void	hot_lists_want(struct worker *);
/* Takes the list of a main that has written it, or has died. */
void	hot_lists_written(struct worker *);
/* In the old monitor: has lists sent to the new monitor through a pipe, which
 * it owns. */
void	hot_lists_hand_over(int pipe);
/* In the new monitor: receives the lists of the old monitor. */
void	hot_lists_receive(int pipe);

#endif
