/*
 * close: closes a file, as the last process that has it open.
 *
 * Closing a file without a name frees its blocks, which may take long.  Must
 * not ask for the file's state first, which may block as well.
 */
#include <errno.h>
#include <unistd.h>

#include "helpers/job.h"
#include "helpers/perform.h"

/* An error of close() is ignored: the descriptor is closed all the same. */
void
close_perform(struct job *job)
{
	if (job->fd == -1)
		job->error = EBADF;
	else
		close(job->fd);
	job->fd = -1;
}
