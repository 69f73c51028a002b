/*
 * handle: O_PATH descriptors, which make no request to their file system.
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
 * Main may read only files that can be read without blocking (RWF_NOWAIT).
 * File systems without that (FUSE, NFS, overlays) may also block in close().
 */
bool
handle_is_needed(const struct job *job)
{
	return !job->find.facts.in_memory &&
	    !io_can_read_nowait(job->fd, (off_t)job->find.version.size);
}

void
handle_convert(struct job *job)
{
	int	handle;

	job->find.facts.handle = handle_is_needed(job);
	if (!job->find.facts.handle)
		return;
	handle = io_handle(job->fd);
	if (handle == -1)
		return;			/* the file has to do */
	close(job->fd);
	job->fd = handle;
}
