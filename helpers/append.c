/*
 * append: adds lines to a log.
 *
 * Must not open, rotate or judge a log: it was given descriptors.
 */
#include <errno.h>
#include <stdlib.h>

#include "helpers/job.h"
#include "helpers/outlet.h"
#include "helpers/perform.h"
#include "lib/mem.h"

static struct outlet	*logs;
static size_t		 logs_count;

void
job_logs(const int *fds, size_t n)
{
	free(logs);
	logs = mem_array(n + 1, sizeof(*logs));		/* not 0 */
	logs_count = n;
	for (size_t i = 0; i < n; i++)
		logs[i] = (struct outlet){ .fd = fds[i] };
}

/* A full disk may take a part: done tells how much, the rest is dropped. */
void
append_perform(struct job *job)
{
	size_t	done;

	if (job->offset < 0 || (uint64_t)job->offset >= logs_count) {
		job->error = EBADF;
		return;
	}
	if (outlet_write(&logs[job->offset], job->data, (size_t)job->length,
	    &done) == -1)
		job->error = errno;
	job->done = done;
}
