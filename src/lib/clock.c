/*
 * clock: reads the system's monotonic and wall clocks.
 */
#include "lib/clock.h"

/* A coarse clock advances by kernel ticks; reading it costs a fifth of
 * reading an exact clock. */
#ifdef CLOCK_MONOTONIC_COARSE
#define MONOTONIC	CLOCK_MONOTONIC_COARSE
#define REALTIME	CLOCK_REALTIME_COARSE
#else
#define MONOTONIC	CLOCK_MONOTONIC
#define REALTIME	CLOCK_REALTIME
#endif

static int64_t
read_us(clockid_t clock)
{
	struct timespec	now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t
read_ms(clockid_t clock)
{
	struct timespec	now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
set_time(struct clock *c, int64_t ms)
{
	c->updates++;
	/* The wall clock counts seconds, so it is read once a millisecond. */
	if (ms <= c->ms)
		return;
	c->ms = ms;
	c->wall = (time_t)(read_us(REALTIME) / 1000000);
}

void
clock_update(struct clock *c)
{
	set_time(c, read_ms(MONOTONIC));
}

int64_t
clock_update_us(struct clock *c)
{
	int64_t	us = clock_us();

	set_time(c, us / 1000);
	return us;
}

int64_t
clock_ms(void)
{
	return read_ms(MONOTONIC);
}

int64_t
clock_us(void)
{
	return read_us(CLOCK_MONOTONIC);
}
