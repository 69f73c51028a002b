/*
 * watchdog: checks that the event loops of the serving mains turn.  A
 * supervisor (WATCHDOG_USEC) or the conf (watchdog) asks for that; without
 * either, there is no check.
 */
#ifndef MONITOR_WATCHDOG_H
#define MONITOR_WATCHDOG_H

#include <stdint.h>

struct generation;
struct monitor;
struct worker;

struct watchdog {
	int64_t	next_at;	/* ms: action is taken unless a message has
				 * come by then; 0: not watched */
	int	stage;		/* the next action (watchdog.c) */
};

/* Returns the interval of a main's messages in ms; 0: none are wanted. */
int64_t	watchdog_interval(const struct monitor *, const struct generation *);
/* A main has sent a message: its loop turns. */
void	watchdog_on_alive(struct monitor *, struct worker *);
/* Stops watching a main that has died or drains. */
void	watchdog_stop(struct worker *);
/* Takes the next action if a main is late: aborts it, then kills it. */
void	watchdog_tick(struct monitor *, struct worker *);

#endif
