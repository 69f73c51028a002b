/*
 * clock: two system clocks, asked at once.
 */
#include "lib/clock.h"

/* A tick of the kernel's is fine enough, and costs a fifth. */
#ifdef CLOCK_MONOTONIC_COARSE
#define MONOTONIC	CLOCK_MONOTONIC_COARSE
#define REALTIME	CLOCK_REALTIME_COARSE
#else
#define MONOTONIC	CLOCK_MONOTONIC
#define REALTIME	CLOCK_REALTIME
#endif

void
clock_update(struct clock *c)
{
	struct timespec	now;
	int64_t		ms;

	clock_gettime(MONOTONIC, &now);
	ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	if (ms > c->ms)
		c->ms = ms;
	clock_gettime(REALTIME, &now);
	c->wall = now.tv_sec;
}
