/*
 * spool: puts bytes into a file without a name, in memory or in a directory.
 * A file is made for the first bytes, and when a body moves from memory to a
 * directory.
 *
 * Must write at the job's offset and nowhere else, or into a new file: a job
 * whose helper has died is done again.
 */
#include <sys/param.h>
#include <sys/stat.h>

#include <errno.h>
#include <unistd.h>

#include "helpers/anon_file.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "lib/io.h"

enum { BLOCK_SIZE = 64 * 1024 };

/* 0 or an errno. */
static int
write_bytes(int fd, struct str bytes, int64_t offset)
{
	ssize_t	n;

	while (bytes.len > 0) {
		n = pwrite(fd, bytes.at, bytes.len, (off_t)offset);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return errno;
		str_skip(&bytes, (size_t)n);
		offset += n;
	}
	return 0;
}

/* Copies the first bytes of a file to another one, whose offset stays; 0 or an
 * errno. */
static int
copy_begin(int from, int to, int64_t length)
{
	char	block[BLOCK_SIZE];
	int64_t	done = 0;
	ssize_t	n;
	int	error = 0;

	while (error == 0 && done < length) {
		n = pread(from, block, (size_t)MIN(length - done, BLOCK_SIZE),
		    (off_t)done);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == -1 ? errno : EIO;
		error = write_bytes(to, (struct str){ block, (size_t)n }, done);
		done += n;
	}
	return error;
}

/* Makes the file that the job is to have; -1 with errno. */
static int
make_file(const struct job_spool *s)
{
	bool	in_memory;

	return s->directory != NULL ? anon_file_open_in(s->directory) :
	    anon_file_open(&in_memory);
}

/* Fills a new file, and notes its device; 0 or an errno. */
static int
fill_file(const struct job *job, int fd, uint64_t *device)
{
	const struct job_spool	*s = &job->spool;
	struct stat		 st;
	int			 error = 0;

	*device = 0;
	if (s->directory != NULL && io_stat(fd, &st) == -1)
		return errno;
	if (s->directory != NULL)
		*device = (uint64_t)st.st_dev;
	if (s->has_file)
		error = copy_begin(job->fd, fd, s->offset);
	return error != 0 ? error : write_bytes(fd, s->bytes, s->offset);
}

void
spool_perform(struct job *job)
{
	int	fd;

	if (!job_makes_file(job)) {
		job->error = write_bytes(job->fd, job->spool.bytes,
		    job->spool.offset);
		return;
	}
	fd = make_file(&job->spool);
	job->error = fd == -1 ? errno :
	    fill_file(job, fd, &job->spool.device);
	if (job->error != 0)
		io_close(&fd);
	else
		job->fd = fd;
}
