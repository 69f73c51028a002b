/*
 * watchdog: whether the loop of the main that serves still turns, for who wants
 * to know: a supervisor, or the conf (watchdog).  Without any there is none.
 */
#ifndef MONITOR_WATCHDOG_H
#define MONITOR_WATCHDOG_H

#include <stdint.h>

struct monitor;
struct generation;
struct worker;

struct watchdog {
	int64_t	next_at;		/* ms: by then it has to be heard; 0: ever */
	int	stage;		/* what has been done since it was */
};

/* ms between two beats of a main of this generation; 0: none. */
int64_t	watchdog_interval(const struct monitor *, const struct generation *);
/* It beats. */
void	watchdog_on_alive(struct monitor *, struct worker *);
/* Nobody listens any more: it has died, or drains. */
void	watchdog_stop(struct worker *);
/* What is due. */
void	watchdog_tick(struct monitor *, struct worker *);

#endif
