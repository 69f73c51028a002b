/*
 * close: closes a file, as the last process that has it open, and before that
 * has the system forget a range of it.
 *
 * Closing a file without a name frees its blocks, which may take long.  Must
 * not ask for the file's state first, which may block as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "helpers/job.h"
#include "helpers/perform.h"

/* Pages that a process has mapped, or that are being sent, stay in memory.  The
 * call may wait for the disk, as it starts to write what is not written. */
static void
give_back(int fd, const struct job_range *r)
{
	if (r->length > 0)
		(void)posix_fadvise(fd, r->offset, (off_t)r->length,
		    POSIX_FADV_DONTNEED);
}

/* An error of close() is ignored: the descriptor is closed all the same. */
void
close_perform(struct job *job)
{
	job->range.done = 0;
	if (job->fd == -1)
		job->error = EBADF;
	else {
		give_back(job->fd, &job->range);
		close(job->fd);
	}
	job->fd = -1;
}
