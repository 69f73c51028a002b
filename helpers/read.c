/*
 * read: brings a range of a file into the page cache.
 *
 * The bytes themselves are not used.
 */
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>

#include "helpers/job.h"
#include "helpers/perform.h"
#include "lib/io.h"

enum {
	PAGE = 4096,
	PAGES = 16			/* of a call: 64 KiB */
};

/* Reads up to PAGES pages, all into one page of ours, which stays in the CPU's
 * cache. */
static ssize_t
read_pages(int fd, int64_t offset, uint64_t length)
{
	char		page[PAGE];
	struct iovec	parts[PAGES];
	int		n = 0;

	while (n < PAGES && length > 0) {
		parts[n].iov_base = page;
		parts[n].iov_len = length < PAGE ? (size_t)length : PAGE;
		length -= parts[n++].iov_len;
	}
	return preadv(fd, parts, n, offset);
}

/* Whether the whole range is in memory.  If not, readahead begins. */
static bool
is_in_memory(const struct job *job)
{
	char		bytes[PAGES * PAGE];
	uint64_t	done = 0, left;
	const struct job_range	*r = &job->range;
	ssize_t		n;

	for (; (left = r->length - done) > 0; done += (uint64_t)n) {
		n = io_read_nowait(job->fd, bytes, left < sizeof(bytes) ?
		    (size_t)left : sizeof(bytes), r->offset + (int64_t)done);
		if (n <= 0)
			return false;
	}
	return true;
}

/* Starts to read the range and what is likely to be needed next; does not
 * wait. */
static void
start_readahead(const struct job *job)
{
	const struct job_range	*r = &job->range;

	if (r->length <= INT64_MAX - JOB_READAHEAD &&
	    r->offset <= INT64_MAX - JOB_READAHEAD - (int64_t)r->length)
		(void)posix_fadvise(job->fd, r->offset,
		    (off_t)r->length + JOB_READAHEAD, POSIX_FADV_WILLNEED);
}

void
read_perform(struct job *job)
{
	struct job_range	*r = &job->range;
	ssize_t	n;

	r->done = 0;
	job->read.was_in_memory = is_in_memory(job);
	start_readahead(job);
	if (job->read.was_in_memory)
		r->done = r->length;
	while (r->done < r->length) {
		n = read_pages(job->fd, r->offset + (int64_t)r->done,
		    r->length - r->done);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			job->error = errno;
		if (n <= 0)
			return;
		r->done += (uint64_t)n;
	}
}
