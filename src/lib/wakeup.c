/*
 * wakeup: an eventfd(2), or a pipe where there is none.
 */
#ifdef __linux__
#include <sys/eventfd.h>
#endif

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/log.h"
#include "lib/need.h"
#include "lib/wakeup.h"

void
bell_open(struct bell *b)
{
#ifdef __linux__
	b->fd = b->clapper = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (b->fd == -1)
		fatal("no bell for a thread");
#else
	int	ends[2];

	if (io_pipe(ends) == -1 || io_nonblock(ends[0]) == -1 ||
	    io_nonblock(ends[1]) == -1)
		fatal("no bell for a thread");
	b->fd = ends[0];
	b->clapper = ends[1];
#endif
}

void
bell_close(struct bell *b)
{
	if (b->clapper != b->fd)
		io_close(&b->clapper);
	io_close(&b->fd);
}

void
bell_ring(const struct bell *b)
{
	const uint64_t	one = 1;
	ssize_t		n;

	do {
		n = write(b->clapper, &one, sizeof(one));
	} while (n == -1 && errno == EINTR);
	/* Full: it has been rung often enough. */
	need(n > 0 || errno == EAGAIN);
}

bool
bell_is_silent(const struct bell *b)
{
	return b->clapper == b->fd;
}

void
bell_hush(const struct bell *b)
{
	uint64_t	rings[64];
	ssize_t		n;

	do {
		n = read(b->fd, rings, sizeof(rings));
	} while (n == (ssize_t)sizeof(rings) || (n == -1 && errno == EINTR));
}
