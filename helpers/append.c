/*
 * append: adds lines to a log.
 *
 * Must not open, rotate or judge a log: it was given descriptors.
 */
#include <errno.h>
#include <stdlib.h>

#include "helpers/append.h"
#include "helpers/job.h"
#include "helpers/log_sink.h"
#include "helpers/perform.h"
#include "helpers/rdns.h"
#include "lib/buf.h"
#include "lib/lines.h"
#include "lib/mem.h"
#include "lib/need.h"

#define PATIENCE	1000		/* ms without any room */

static struct outlet	*logs;
static size_t		 logs_count;
static struct names	*names;		/* of log 0; NULL: it has none */
static struct buf	 named;		/* lines with them */

void
job_set_logs(const int *fds, size_t n)
{
	free(logs);
	logs = mem_array(n + 1, sizeof(*logs));		/* not 0 */
	logs_count = n;
	for (size_t i = 0; i < n; i++)
		logs[i] = (struct outlet){ .fd = fds[i] };
}

void
append_to_syslog(struct syslog *s)
{
	need(logs_count > 0);
	logs[0].syslog = s;
}

void
append_with_names(struct names *n)
{
	names = n;
}

/* A pipe or a socket that is only slow is waited for; one that nobody reads is
 * once, and then no more until somebody does. */
static int
write_all(struct outlet *o, const char *at, size_t len, size_t *done)
{
	size_t	before;
	int	result;

	*done = 0;
	do {
		before = *done;
		result = outlet_write(o, at, len, done);
		o->stalled = o->stalled && *done == before && len > 0;
	} while (result == -1 && errno == EAGAIN &&
	    outlet_wait(o, o->stalled ? 0 : PATIENCE));
	o->stalled = result == -1;
	return result;
}

/* How many of the bytes asked for are in so many lines. */
static size_t
bytes_of(const char *at, size_t len, uint64_t lines)
{
	size_t	n = 0;

	while (lines-- > 0)
		n += lines_first(at + n, len - n);
	return n;
}

static int
write_named(struct outlet *o, const char *at, size_t len, size_t *done)
{
	int	result;

	named.len = 0;
	names_fill(names, at, len, &named);
	result = write_all(o, named.at, named.len, done);
	*done = result == 0 ? len :
	    bytes_of(at, len, lines_count(named.at, *done));
	return result;
}

/* A full disk may take a part: done tells how much, the rest is dropped. */
void
append_perform(struct job *job)
{
	size_t	done, len = (size_t)job->length;
	bool	with_names = names != NULL && job->offset == 0;

	if (job->offset < 0 || (uint64_t)job->offset >= logs_count) {
		job->error = EBADF;
		return;
	}
	if ((with_names ? write_named : write_all)(&logs[job->offset],
	    job->data, len, &done) == -1)
		job->error = errno;
	job->done = done;
}
