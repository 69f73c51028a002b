/*
 * copy: a range of a file, as a file of its own that is in memory.
 *
 * For files that main must not touch, as it could not know whether that would
 * wait: neither mapped nor read nor, if it is a handle, closed.  Must leave the
 * asker's descriptor alone.
 */
#include <errno.h>
#include <unistd.h>

#include "helpers/anon_file.h"
#include "helpers/file_version.h"
#include "helpers/handle.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "lib/io.h"

enum { PIECE = 64 * 1024 };

static int
copy(struct job *job, int from, int to)
{
	char	piece[PIECE];
	size_t	left;
	ssize_t	n;

	while (job->done < job->length) {
		left = job->length - job->done;
		n = pread(from, piece, left < PIECE ? left : PIECE,
		    job->offset + (int64_t)job->done);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == 0)
			break;
		if (n == -1 || io_write_all(to, piece, (size_t)n) == -1)
			return errno;
		job->done += (uint64_t)n;
	}
	return 0;
}

void
copy_perform(struct job *job)
{
	int	from, to = -1;
	bool	in_memory;

	from = handle_open(job->fd);
	if (from == -1 || (to = unnamed_open(&in_memory)) == -1)
		job->error = errno;
	else
		job->error = copy(job, from, to);
	/* Pieces of two versions make no file. */
	if (job->error == 0 && job->has_version &&
	    !version_stands(&job->version, from))
		job->error = ESTALE;
	io_close(&from);
	if (job->error != 0)
		io_close(&to);
	else
		job->fd = to;
}
