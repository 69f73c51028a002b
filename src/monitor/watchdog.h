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

/* Actions that were taken against a silent main, in this order. */
enum watchdog_action {
	WATCHDOG_NONE,
	WATCHDOG_WAITED,	/* once: all processes may have been stopped */
	WATCHDOG_ABORTED,	/* main logs where it hangs */
	WATCHDOG_KILLED
};

struct watchdog {
	struct timer		timer;	/* action is taken unless a message
					 * comes */
	enum watchdog_action	done;
};

/* Returns the interval of a main's messages in ms; 0: none are wanted. */
int64_t	watchdog_interval(const struct generation *);
/* Watches a main that serves: the loop may stop before its first message. */
void	watchdog_start(struct worker *);
/* A main has sent a message: its loop turns. */
void	watchdog_on_alive(struct worker *);
/* Stops watching a main that has died or drains. */
void	watchdog_stop(struct worker *);

#endif
