/*
 * spool: puts bytes into a file in memory, which it makes for the first ones.
 *
 * Must write at the job's offset and nowhere else: a job whose helper has died
 * is done again.
 */
#include <errno.h>
#include <unistd.h>

#include "helpers/anon_file.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "lib/io.h"

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

void
spool_perform(struct job *job)
{
	bool	in_memory;

	if (!job->spool.has_file)
		job->fd = anon_file_open(&in_memory);
	job->error = job->fd == -1 ? errno : write_bytes(job->fd,
	    job->spool.bytes, job->spool.offset);
	if (job->error != 0 && !job->spool.has_file)
		io_close(&job->fd);
}
