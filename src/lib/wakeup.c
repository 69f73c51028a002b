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
wakeup_open(struct wakeup *b)
{
#ifdef __linux__
	b->fd = b->write_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (b->fd == -1)
		fatal("cannot make a descriptor that wakes a thread");
#else
	int	ends[2];

	if (io_pipe(ends) == -1 || io_nonblock(ends[0]) == -1 ||
	    io_nonblock(ends[1]) == -1)
		fatal("cannot make a descriptor that wakes a thread");
	b->fd = ends[0];
	b->write_fd = ends[1];
#endif
}

void
wakeup_close(struct wakeup *b)
{
	if (b->write_fd != b->fd)
		io_close(&b->write_fd);
	io_close(&b->fd);
}

void
wakeup_set(const struct wakeup *b)
{
	const uint64_t	one = 1;
	ssize_t		n;

	do {
		n = write(b->write_fd, &one, sizeof(one));
	} while (n == -1 && errno == EINTR);
	/* EAGAIN: the pipe or eventfd is full, so the other end will wake. */
	need(n > 0 || errno == EAGAIN);
}

bool
wakeup_reset_is_optional(const struct wakeup *b)
{
	return b->write_fd == b->fd;
}

void
wakeup_reset(const struct wakeup *b)
{
	uint64_t	counts[64];
	ssize_t		n;

	do {
		n = read(b->fd, counts, sizeof(counts));
	} while (n == (ssize_t)sizeof(counts) || (n == -1 && errno == EINTR));
}
