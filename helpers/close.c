/*
 * close: lets go of a file, as the last who has it.
 *
 * What that costs depends on what has become of the file: one without a name is
 * freed by it.  Must not look at the file first, which could wait as well.
 */
#include <errno.h>
#include <unistd.h>

#include "helpers/job.h"
#include "helpers/perform.h"

/* Whatever close() says, the descriptor is gone, and nobody to be told. */
void
close_perform(struct job *job)
{
	if (job->fd == -1)
		job->error = EBADF;
	else
		close(job->fd);
	job->fd = -1;
}
