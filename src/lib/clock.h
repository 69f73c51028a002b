/*
 * clock: the time as the loop last saw it, so that a request costs no call.
 *
 * Whoever waits (an event loop, a test) brings it up to date; everybody
 * else reads it.
 */
#ifndef LIB_CLOCK_H
#define LIB_CLOCK_H

#include <stdint.h>
#include <time.h>

struct clock {
	int64_t	ms;		/* monotonic, milliseconds, never back */
	time_t	wall;		/* seconds since 1970 */
};

void	clock_update(struct clock *);	/* asks the system */
/* The same, exactly; returns what clock_us() would. */
int64_t	clock_update_us(struct clock *);
/* What ms would be now, for who has no clock that is brought up to date. */
int64_t	clock_ms(void);
/* Monotonic, microseconds: for what is measured; asks the system. */
int64_t	clock_us(void);

#endif
