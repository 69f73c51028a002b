/*
 * monitor: keeps the privileges, starts main, the helpers and the log helper,
 * and starts again what dies.  Never sees a byte from a client.
 */
#ifndef MONITOR_H
#define MONITOR_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "arch/arch.h"

struct monitor_setup {
	const struct conf	*conf;
	struct listener		*listeners;
	size_t			 nlisteners;
	int			 helper;	/* the helper program, open */
	int			 logs[2];	/* access, error; -1: none; as
						 * handles, if they can be */
	const char		*user;		/* NULL: stay who we are */
	uid_t			 uid;
	gid_t			 gid;
	size_t			 descriptors;
	FILE			*announce;	/* gets a line, or NULL */
	const char		*serving;	/* what it says is served */
};

/* Until a signal ends it; the exit status. */
int	monitor_run(struct monitor_setup *);

#endif
