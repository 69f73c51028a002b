/*
 * syslog: lines to the system's log, by its socket: so it is told when a line
 * could not be sent, and nobody waits, which syslog(3) does not promise.
 */
#ifndef HELPERS_SYSLOG_H
#define HELPERS_SYSLOG_H

#include <stdbool.h>
#include <stddef.h>

struct syslog {
	int		 fd;		/* -1: not connected */
	int		 facility;	/* its number */
	char		 tag[40];
	char		 path[108];
	bool		 has_levels;	/* lines have the form of lib/log */
};

/* "FACILITY,TAG,SOCKET"; false: it is not that. */
bool	syslog_init(struct syslog *, const char *);
/* One line, without its end; 0, or -1 with errno: EAGAIN when the socket has
 * no room, other ones when nobody is there. */
int	syslog_send(struct syslog *, const char *, size_t);

#endif
