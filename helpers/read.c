/*
 * read: brings a range of a file into memory, the system's, not ours.
 *
 * The bytes themselves are of no interest here, and must not be kept.
 *
 * Who asks will look, by reading, whether they are there, and the system keeps
 * what was used twice: so this is to be no use.  To fault pages in through a
 * mapping is none, if it is said to be read in order.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "helpers/job.h"
#include "helpers/perform.h"

enum {
	PAGE = 4096,
	PAGES = 16,			/* a call: 64 KiB */
	AHEAD = 128 * 1024		/* bytes behind the range */
};

/*
 * One call's worth.  All pages land on the same one: nobody reads them, and
 * it stays in the processor's cache.
 */
static ssize_t
bring(int fd, int64_t offset, uint64_t length)
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

/* Whether all of it is there, without having been used.  If not, reading will
 * tell why: no such means here, an error, or the file is shorter. */
static bool
populate(const struct job *job)
{
#ifdef MADV_POPULATE_READ
	int64_t	 page = sysconf(_SC_PAGESIZE), from;
	size_t	 size;
	void	*at;
	bool	 done;

	from = job->offset - job->offset % page;
	size = (size_t)(job->offset - from) + (size_t)job->length;
	at = mmap(NULL, size, PROT_READ, MAP_SHARED, job->fd, from);
	if (at == MAP_FAILED)
		return false;
	done = madvise(at, size, MADV_SEQUENTIAL) == 0 &&
	    madvise(at, size, MADV_POPULATE_READ) == 0;
	munmap(at, size);
	return done;
#else
	(void)job;
	return false;
#endif
}

/* Of its last page it is not known yet how much of that is the file. */
static bool
is_as_long(const struct job *job)
{
	struct stat	st;

	return fstat(job->fd, &st) == 0 &&
	    (uint64_t)st.st_size >= (uint64_t)job->offset + job->length;
}

/* The disk begins with it, and with what is likely to be asked for next:
 * nobody waits for that here. */
static void
begin(const struct job *job)
{
	if (job->length <= INT64_MAX - AHEAD &&
	    job->offset <= INT64_MAX - AHEAD - (int64_t)job->length)
		(void)posix_fadvise(job->fd, job->offset,
		    (off_t)job->length + AHEAD, POSIX_FADV_WILLNEED);
}

void
read_perform(struct job *job)
{
	ssize_t	n;

	begin(job);
	if (job->length > 0 && job->length <= SIZE_MAX / 2 &&
	    populate(job) && is_as_long(job)) {
		job->done = job->length;
		return;
	}
	while (job->done < job->length) {
		n = bring(job->fd, job->offset + (int64_t)job->done,
		    job->length - job->done);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			job->error = errno;
		if (n <= 0)
			return;
		job->done += (uint64_t)n;
	}
}
