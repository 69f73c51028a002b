/*
 * leap: a clock that only a test sets on; preloaded before the C library.
 *
 * The monotonic clock of this process stands still, apart from the milliseconds
 * in the file that $AMPED_LEAP names, eight bytes: the test writes more at any
 * time.  So what the process does by that clock does not depend on the speed of
 * the machine.  Processes that this one starts have the system's clock.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/mman.h>
#include <sys/syscall.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t	*ahead;		/* ms; NULL: the system's clock */
static struct timespec		 start;

static void
forget_leap(void)
{
	ahead = NULL;
}

__attribute__((constructor)) static void
open_leap(void)
{
	const char	*name = getenv("AMPED_LEAP");
	int		 fd = name == NULL ? -1 : open(name, O_RDONLY);
	void		*at;

	unsetenv("LD_PRELOAD");
	if (fd == -1)
		return;
	at = mmap(NULL, sizeof(*ahead), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return;
	(void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &start);
	pthread_atfork(NULL, NULL, forget_leap);
	ahead = at;
}

int
clock_gettime(clockid_t clock, struct timespec *now)
{
	int64_t	ms;

	if (ahead == NULL || (clock != CLOCK_MONOTONIC &&
	    clock != CLOCK_MONOTONIC_COARSE))
		return (int)syscall(SYS_clock_gettime, clock, now);
	ms = start.tv_nsec / 1000000 + *ahead;
	now->tv_sec = start.tv_sec + (time_t)(ms / 1000);
	now->tv_nsec = start.tv_nsec % 1000000 + (long)(ms % 1000) * 1000000;
	return 0;
}
