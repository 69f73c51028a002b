/*
 * syslog: sends lines to the socket of the system's log.
 *
 * Unlike syslog(3), it never blocks, and reports a line that cannot be sent.
 */
#ifndef HELPERS_SYSLOG_H
#define HELPERS_SYSLOG_H

#include <stdbool.h>
#include <stddef.h>

struct syslog {
	int		 fd;		/* -1: not connected */
	int		 facility;	/* a number of syslog(3) */
	char		 tag[40];
	char		 path[108];
	bool		 has_levels;	/* lines are in the format of lib/log */
};

/* Parses "FACILITY,TAG,SOCKET"; false: the text is wrong. */
bool	syslog_init(struct syslog *, const char *);
/* Sends one line, without its newline.  0, or -1 with errno: EAGAIN if the
 * socket has no room. */
int	syslog_send(struct syslog *, const char *, size_t);

#endif
