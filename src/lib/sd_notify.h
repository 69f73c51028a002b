/*
 * sd_notify: what a supervisor that wants to know is told (sd_notify(3)), such
 * as systemd.
 */
#ifndef LIB_SD_NOTIFY_H
#define LIB_SD_NOTIFY_H

#include <sys/types.h>

#include <stdint.h>

struct sd_notify {
	char	*socket;	/* owned; NULL: nobody wants to know */
	int	 fd;
	int64_t	 watchdog;	/* ms between signs of life; 0: none wanted */
};

#define SD_NOTIFY_NONE	{ .fd = -1 }

/* By the environment, which is cleared of it: it is for this process alone. */
void	sd_notify_open(struct sd_notify *);
/* Lines, without the last newline. */
void	sd_notify_send(const struct sd_notify *, const char *, ...)
	    __attribute__((__format__(__printf__, 2, 3)));
/* The same with what the time of day says beside it. */
void	sd_notify_reloading(const struct sd_notify *);
/* In a process that is to tell the same one from now on: into its environment;
 * 0, or -1. */
int	sd_notify_export(const struct sd_notify *);
void	sd_notify_close(struct sd_notify *);

#endif
