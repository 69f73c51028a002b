/*
 * sd_notify: messages to the supervisor, as systemd (sd_notify(3)).
 */
#ifndef LIB_SD_NOTIFY_H
#define LIB_SD_NOTIFY_H

#include <sys/types.h>

#include <stdint.h>

struct sd_notify {
	char	*socket;	/* owned; NULL: no supervisor listens */
	int	 fd;		/* -1: no supervisor listens */
	int64_t	 watchdog;	/* ms, at most, between two keepalives;
				 * 0: the supervisor wants none */
};

#define SD_NOTIFY_NONE	{ .fd = -1 }

/* Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and removes them from
 * the environment: children must not notify. */
void	sd_notify_open(struct sd_notify *);
/* Sends lines, the last without a newline; waits at most 200 ms for room, and
 * logs a failure. */
void	sd_notify_send(const struct sd_notify *, const char *, ...)
	    __attribute__((__format__(__printf__, 2, 3)));
/* Sends RELOADING=1 with the monotonic time. */
void	sd_notify_reloading(const struct sd_notify *);
/* Puts the variables back, for the program that replaces this process.  0, or
 * -1 with errno. */
int	sd_notify_export(const struct sd_notify *);
void	sd_notify_close(struct sd_notify *);

#endif
