/*
 * copy: copies a range of a file into an anonymous file in memory.
 *
 * For files that main must not map, read or close, since that may block.  Must
 * not close the caller's descriptor.
 */
#include <errno.h>
#include <unistd.h>

#include "helpers/anon_file.h"
#include "helpers/file_version.h"
#include "helpers/handle.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "lib/io.h"

enum { BLOCK_SIZE = 64 * 1024 };

/* Copies a range up to the end of the file; 0 or an errno. */
static int
copy_range(struct job_range *r, int from, int to)
{
	char	block[BLOCK_SIZE];
	size_t	left;
	ssize_t	n;

	while (r->done < r->length) {
		left = r->length - r->done;
		n = pread(from, block, left < BLOCK_SIZE ? left : BLOCK_SIZE,
		    r->offset + (int64_t)r->done);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == 0)
			break;
		if (n == -1 || io_write_all(to, block, (size_t)n) == -1)
			return errno;
		r->done += (uint64_t)n;
	}
	return 0;
}

int
copy_whole(int fd, const struct job_version *version, bool *in_memory)
{
	struct job_range	all = { .length = (uint64_t)version->size };
	int			to = anon_file_open(in_memory);

	/* The bytes may be of two versions. */
	if (to != -1 && (copy_range(&all, fd, to) != 0 ||
	    all.done < all.length || !file_version_holds(version, fd)))
		io_close(&to);
	return to;
}

void
copy_perform(struct job *job)
{
	int	from, to = -1;
	bool	in_memory;

	job->range.done = 0;
	from = handle_open(job->fd);
	if (from == -1 || (to = anon_file_open(&in_memory)) == -1)
		job->error = errno;
	else
		job->error = copy_range(&job->range, from, to);
	/* The range may be of two versions. */
	if (job->error == 0 && job->copy.has_version &&
	    !file_version_holds(&job->range.version, from))
		job->error = ESTALE;
	io_close(&from);
	if (job->error != 0)
		io_close(&to);
	else
		job->fd = to;
}
