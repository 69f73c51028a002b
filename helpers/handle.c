/*
 * handle: descriptors that ask their file system for nothing (O_PATH).
 */
#include <fcntl.h>
#include <unistd.h>

#include "helpers/handle.h"
#include "lib/io.h"

int
handle_open(int fd)
{
	return io_reopen(fd, O_RDONLY | O_NONBLOCK);
}

/*
 * Main may read only what can be read without waiting.  Where that cannot be
 * asked for (FUSE, NFS, overlays) it gets a handle: even to close such a file
 * can wait, for as long as its file system likes.
 */
void
handle_convert(struct job *job)
{
	int	handle;

	job->facts.handle = !job->facts.in_memory &&
	    !io_can_read_nowait(job->fd, (off_t)job->version.size);
	if (!job->facts.handle)
		return;
	handle = io_handle(job->fd);
	if (handle == -1)
		return;			/* it must do as it is */
	close(job->fd);
	job->fd = handle;
}
