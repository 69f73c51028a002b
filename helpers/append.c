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
static struct buf	*sorted;	/* lines of each log */
static struct rdns	*rdns;		/* NULL: addresses stay */
static struct buf	 resolved;		/* lines with host names */

void
job_set_logs(const int *fds, size_t n)
{
	for (size_t i = 0; i < nsinks; i++)
		buf_free(&sorted[i]);
	free(sorted);
	free(sinks);
	sorted = mem_zero((n + 1) * sizeof(*sorted));
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

/* Writes the bytes of one log, whose host names are filled in. */
static int
write_to(struct log_sink *sink, const char *at, size_t len, size_t *done)
{
	return (rdns != NULL ? write_resolved : write_all)(sink, at, len, done);
}

/* Takes the mark off a line; returns the number of its log. */
static size_t
take_mark(const char **line, size_t *len)
{
	const char	*at = *line, *end = at + *len;
	size_t		 number = 0;

	if (*len == 0 || *at != LINES_LOG_MARK)
		return 0;
	for (at++; at < end && *at >= '0' && *at <= '9' && number < nsinks;
	    at++)
		number = 10 * number + (size_t)(*at - '0');
	at += at < end && *at == LINES_LOG_MARK;
	*len -= (size_t)(at - *line);
	*line = at;
	return number;
}

/* Collects the lines of each log; returns how many are of no log. */
static uint64_t
sort_lines(const char *at, size_t len)
{
	const char	*line, *end = at + len;
	size_t		 n, log;
	uint64_t	 lost = 0;

	for (; at < end; at += n) {
		n = lines_first(at, (size_t)(end - at));
		line = at;
		len = n;
		log = take_mark(&line, &len);
		if (log < nsinks)
			buf_add(&sorted[log], line, len);
		else
			lost++;
	}
	return lost;
}

/* Writes the lines of several logs, which are mixed.  If a log fails, the lines
 * of the others are written all the same: *done is the size of as many lines
 * as were written. */
static int
write_sorted(const char *at, size_t len, size_t *done)
{
	uint64_t	lost = sort_lines(at, len);
	size_t		n;
	int		error = lost > 0 ? EBADF : 0;

	for (size_t i = 0; i < nsinks; i++) {
		if (sorted[i].len > 0 && write_to(&sinks[i], sorted[i].at,
		    sorted[i].len, &n) == -1) {
			error = errno;
			lost += lines_count(sorted[i].at + n,
			    sorted[i].len - n);
		}
		sorted[i].len = 0;
	}
	*done = size_of_lines(at, len, lines_count(at, len) - lost);
	errno = error;
	return error == 0 ? 0 : -1;
}

/* A full disk may take only a part; the rest is dropped. */
void
append_perform(struct job *job)
{
	struct str	*bytes = &job->append.bytes;
	size_t		 done = 0, log = (size_t)job->append.log;
	int		 result;

	job->append.done = 0;
	if (job->append.log < 0 || log >= nsinks) {
		job->error = EBADF;
		return;
	}
	if (nsinks > 1 && log == 0)
		result = write_sorted(bytes->at, bytes->len, &done);
	else
		result = write_to(&sinks[log], bytes->at, bytes->len, &done);
	if (result == -1)
		job->error = errno;
	job->append.done = done;
}
