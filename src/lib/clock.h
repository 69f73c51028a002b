/*
 * clock: the time as the event loop last read it, so that a request costs no
 * system call.
 *
 * The loop updates a clock after each wait; all other code only reads it.
 */
#ifndef LIB_CLOCK_H
#define LIB_CLOCK_H

#include <stdint.h>
#include <time.h>

struct clock {
	int64_t	ms;		/* monotonic, milliseconds, never back */
	time_t	wall;		/* seconds since 1970 */
	uint32_t updates;	/* how often it was updated; 0: never */
};

/* Reads the system's coarse clock: ms may lag by one tick of the kernel. */
void	clock_update(struct clock *);
/* Counts an update without reading a clock, which has just been read: work that
 * is done once for each update is done again. */
static inline void
clock_count(struct clock *c)
{
	c->updates++;
}

/* Reads the exact clock, and returns its microseconds, as clock_us() does. */
int64_t	clock_update_us(struct clock *);
/* The coarse monotonic time in ms, for code that has no struct clock. */
int64_t	clock_ms(void);
/* The exact monotonic time in microseconds, for measurements. */
int64_t	clock_us(void);

#endif
