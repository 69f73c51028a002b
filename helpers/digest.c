/*
 * digest: makes a digest of a range of a file's bytes.
 *
 * Must give the same sum on each machine: the blocks do not depend on how many
 * bytes a read brings.
 */
#include <errno.h>
#include <unistd.h>

#include "helpers/file_version.h"
#include "helpers/handle.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "lib/hash.h"
#include "lib/io.h"

enum { BLOCK_SIZE = 64 * 1024 };

/* Reads up to a block of the range; fewer bytes: the file ends.  -1 with
 * errno. */
static ssize_t
read_block(const struct job_range *r, int fd, char block[BLOCK_SIZE])
{
	uint64_t	left = r->length - r->done;
	size_t		want = left < BLOCK_SIZE ? (size_t)left : BLOCK_SIZE;

	return io_read_all_at(fd, block, want, r->offset + (int64_t)r->done);
}

/* 0 or an errno. */
static int
sum_range(struct job *job, int fd)
{
	/* The key is no secret: all machines have the same sums. */
	static const struct hash_key	key = { 0, 0 };
	struct job_range	*r = &job->range;
	char			 block[BLOCK_SIZE];
	ssize_t			 n;

	while (r->done < r->length) {
		n = read_block(r, fd, block);
		if (n == -1)
			return errno;
		if (n == 0)
			break;
		job->digest.sum = hash_bytes(&key, job->digest.sum, block,
		    (size_t)n);
		r->done += (uint64_t)n;
	}
	return 0;
}

/* The descriptor itself, or the file of a handle, which cannot be read; -1 with
 * errno. */
static int
open_source(int fd)
{
	char	byte;

	return pread(fd, &byte, 0, 0) == 0 ? fd : handle_open(fd);
}

void
digest_perform(struct job *job)
{
	int	from = open_source(job->fd);

	job->range.done = 0;
	job->digest.sum = 0;
	job->error = from == -1 ? errno : sum_range(job, from);
	/* The range may be of two versions, or cut off. */
	if (job->error == 0 && (job->range.done < job->range.length ||
	    (job->digest.has_version &&
	    !file_version_holds(&job->range.version, from))))
		job->error = ESTALE;
	if (from != job->fd)
		io_close(&from);
}
