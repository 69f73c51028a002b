/*
 * handle: descriptors that ask their file system for nothing (O_PATH).
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "helpers/handle.h"
#include "lib/io.h"

#ifdef O_PATH

static int
open_again(int fd, int flags)
{
	char	name[sizeof("/proc/self/fd/") + 3 * sizeof(int)];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return open(name, flags | O_CLOEXEC);
}

int
handle_open(int fd)
{
	int	flags = fcntl(fd, F_GETFL);

	if (flags == -1)
		return -1;
	return (flags & O_PATH) != 0 ? open_again(fd, O_RDONLY | O_NONBLOCK) :
	    dup(fd);
}

#else

static int
open_again(int fd, int flags)
{
	(void)flags;
	return dup(fd);
}

int
handle_open(int fd)
{
	return dup(fd);
}

#define O_PATH	0
#endif

/*
 * Main may read only what can be read without waiting.  Where that cannot be
 * asked for (FUSE, NFS, overlays) it gets a handle: even to close such a file
 * can wait, for as long as its file system likes.
 */
void
handle_pass(struct job *job)
{
	int	handle;

	job->facts.handle = !job->facts.in_memory &&
	    !io_reads_now(job->fd, (off_t)job->version.size);
	if (!job->facts.handle)
		return;
	handle = open_again(job->fd, O_PATH);
	if (handle == -1)
		return;			/* it must do as it is */
	close(job->fd);
	job->fd = handle;
}
