/*
 * append: appends lines to a log.
 *
 * Must not open or rotate a log: the descriptors come from the monitor.
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

#define WRITE_TIMEOUT	1000		/* ms to wait for room */

static struct log_sink	*sinks;
static size_t		 nsinks;
static struct rdns	*rdns;		/* for log 0; NULL: addresses stay */
static struct buf	 resolved;		/* lines with host names */

void
job_set_logs(const int *fds, size_t n)
{
	free(sinks);
	sinks = mem_array(n + 1, sizeof(*sinks));		/* not 0 */
	nsinks = n;
	for (size_t i = 0; i < n; i++)
		sinks[i] = (struct log_sink){ .fd = fds[i] };
}

void
append_set_syslog(struct syslog *s)
{
	need(nsinks > 0);
	sinks[0].syslog = s;
}

void
append_set_rdns(struct rdns *n)
{
	rdns = n;
}

/* Waits for room in a slow pipe or socket.  After a wait in vain the next calls
 * do not wait until a write succeeds: probably no process reads the pipe. */
static int
write_all(struct log_sink *sink, const char *at, size_t len, size_t *done)
{
	size_t	before;
	int	result;

	*done = 0;
	do {
		before = *done;
		result = log_sink_write(sink, at, len, done);
		sink->stalled = sink->stalled && *done == before && len > 0;
	} while (result == -1 && errno == EAGAIN &&
	    log_sink_wait(sink, sink->stalled ? 0 : WRITE_TIMEOUT));
	sink->stalled = result == -1;
	return result;
}

/* The number of bytes in so many lines. */
static size_t
size_of_lines(const char *at, size_t len, uint64_t lines)
{
	size_t	n = 0;

	while (lines-- > 0)
		n += lines_first(at + n, len - n);
	return n;
}

static int
write_resolved(struct log_sink *sink, const char *at, size_t len, size_t *done)
{
	int	result;

	resolved.len = 0;
	rdns_fill(rdns, at, len, &resolved);
	result = write_all(sink, resolved.at, resolved.len, done);
	*done = result == 0 ? len :
	    size_of_lines(at, len, lines_count(resolved.at, *done));
	return result;
}

/* A full disk may take only a part; the rest is dropped. */
void
append_perform(struct job *job)
{
	size_t	done, len = job->append.bytes.len;
	bool	with_names = rdns != NULL && job->append.log == 0;

	job->append.done = 0;
	if (job->append.log < 0 || (uint64_t)job->append.log >= nsinks) {
		job->error = EBADF;
		return;
	}
	if ((with_names ? write_resolved : write_all)(&sinks[job->append.log],
	    job->append.bytes.at, len, &done) == -1)
		job->error = errno;
	job->append.done = done;
}
