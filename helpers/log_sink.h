/*
 * log_sink: a destination of log lines, which are written whole.
 */
#ifndef HELPERS_LOG_SINK_H
#define HELPERS_LOG_SINK_H

#include <stdbool.h>
#include <stddef.h>

struct syslog;

struct log_sink {
	int		 fd;
	bool		 partial_line;	/* the last write ended within a line */
	bool		 stalled;	/* the last wait for room timed out */
	struct syslog	*syslog;	/* in place of fd; NULL: fd */
	bool		 json;		/* error logger: lines as JSON */
};

/*
 * Writes the bytes from *done on, and advances *done.  0, or -1 with errno: a
 * later call goes on at *done, within a line if need be.  Lines of other
 * writers to the same pipe or terminal stay apart if no line is longer than
 * PIPE_BUF.
 */
int	log_sink_write(struct log_sink *, const char *, size_t, size_t *done);
/* Waits for room after EAGAIN; false: still none after so many ms. */
bool	log_sink_wait(const struct log_sink *, int ms);

#endif
