/*
 * leap: sets a clock on; preloaded before the C library.
 *
 * The file that $AMPED_LEAP names has the milliseconds, as eight bytes, by which
 * the monotonic clock of this process is ahead; a test may write others at any
 * time.  Processes that this one starts have the system's clock.
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

static const volatile int64_t	*ahead;		/* ms; NULL: not at all */

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
	pthread_atfork(NULL, NULL, forget_leap);
	ahead = at;
}

int
clock_gettime(clockid_t clock, struct timespec *now)
{
	int	result = (int)syscall(SYS_clock_gettime, clock, now);
	int64_t	ms;

	if (result == -1 || ahead == NULL || (clock != CLOCK_MONOTONIC &&
	    clock != CLOCK_MONOTONIC_COARSE))
		return result;
	ms = now->tv_nsec / 1000000 + *ahead;
	now->tv_sec += (time_t)(ms / 1000);
	now->tv_nsec = now->tv_nsec % 1000000 + (long)(ms % 1000) * 1000000;
	return result;
}
