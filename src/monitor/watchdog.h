/*
 * watchdog: checks that the event loops of the serving mains turn.  A
 * supervisor (WATCHDOG_USEC) or the conf (watchdog) asks for that; without
 * either, there is no check.
 */
#ifndef MONITOR_WATCHDOG_H
#define MONITOR_WATCHDOG_H

#include <stdint.h>

#include "monitor/events.h"

struct generation;
struct worker;

struct watchdog {
	struct timer	timer;	/* action is taken unless a message comes */
	int		stage;	/* the next action (watchdog.c) */
};

/* max: ms between two keepalives to a supervisor; 0: it wants none.  all_alive:
 * is called when a message has come and no main is late. */
void	watchdog_init(int64_t max, void (*all_alive)(void));
/* Returns the interval of a main's messages in ms; 0: none are wanted. */
int64_t	watchdog_interval(const struct generation *);
/* A main has sent a message: its loop turns. */
void	watchdog_on_alive(struct worker *);
/* Stops watching a main that has died or drains. */
void	watchdog_stop(struct worker *);

#endif
