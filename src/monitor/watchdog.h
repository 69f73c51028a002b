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

struct pulse {
	int64_t	due;		/* ms: by then it has to be heard; 0: ever */
	int	stage;		/* what has been done since it was */
};

/* ms between two beats of a main of this generation; 0: none. */
int64_t	pulse_between(const struct monitor *, const struct generation *);
/* It beats. */
void	pulse_beat(struct monitor *, struct worker *);
/* Nobody listens any more: it has died, or drains. */
void	pulse_end(struct worker *);
/* What is due. */
void	pulse_look(struct monitor *, struct worker *);

#endif
