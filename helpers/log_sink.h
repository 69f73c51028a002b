/*
 * log_set_output: where lines go, and whether one has stopped in its midst.
 */
#ifndef HELPERS_LOG_SINK_H
#define HELPERS_LOG_SINK_H

#include <stdbool.h>
#include <stddef.h>

struct syslog;

struct log_sink {
	int		 fd;
	bool		 partial_line;		/* the next line needs an end of this */
	bool		 stalled;	/* has been waited for in vain */
	struct syslog	*syslog;	/* lines go there; NULL: to fd */
};

/*
 * All but what is done already; 0, or -1 with errno, and how much is done by
 * now: with that a later call goes on, in the midst of a line if need be.  What
 * others write to the same pipe or terminal meanwhile stands between lines, as
 * long as these are no longer than a pipe takes whole.
 */
int	log_sink_write(struct log_sink *, const char *, size_t, size_t *done);
/* After EAGAIN: false when there is still no room after so many ms. */
bool	log_sink_wait(const struct log_sink *, int ms);

#endif
