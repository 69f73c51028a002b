/*
 * log_sink: writes whole lines, even if a disk is full or a pipe is shared.
 */
#include <sys/stat.h>

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "helpers/log_sink.h"
#include "helpers/syslog.h"
#include "lib/lines.h"

/* The size up to which one write() is not mixed with those of others. */
static size_t
atomic_max(int fd)
{
	struct stat	st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? SSIZE_MAX :
	    PIPE_BUF;
}

static ssize_t
write_once(int fd, const char *at, size_t len)
{
	ssize_t	n;

	do
		n = write(fd, at, len);
	while (n == -1 && errno == EINTR);
	return n;
}

static int
write_to_syslog(struct log_sink *sink, const char *at, size_t len, size_t *done)
{
	size_t	n;

	for (; *done < len; *done += n) {
		n = lines_first(at + *done, len - *done);
		if (syslog_send(sink->syslog, at + *done,
		    n - (at[*done + n - 1] == '\n')) == -1)
			return -1;
	}
	return 0;
}

int
log_sink_write(struct log_sink *sink, const char *at, size_t len, size_t *done)
{
	size_t	piece;
	ssize_t	n;

	if (sink->syslog != NULL)
		return write_to_syslog(sink, at, len, done);
	piece = atomic_max(sink->fd);
	/* Ends the partial line, unless the caller goes on with that line. */
	if (*done == 0 && len > 0 && sink->partial_line) {
		if (write_once(sink->fd, "\n", 1) != 1)
			return -1;
		sink->partial_line = false;
	}
	while (*done < len) {
		n = write_once(sink->fd, at + *done,
		    lines_whole(at + *done, len - *done, piece));
		if (n == -1)
			return -1;
		*done += (size_t)n;
		sink->partial_line = *done > 0 && at[*done - 1] != '\n';
	}
	return 0;
}

bool
log_sink_wait(const struct log_sink *sink, int ms)
{
	struct pollfd	p = { .events = POLLOUT };

	p.fd = sink->syslog != NULL ? sink->syslog->fd : sink->fd;
	return poll(&p, 1, ms) != 0;
}
