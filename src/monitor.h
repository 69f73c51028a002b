/*
 * monitor: keeps the privileges, starts main, the helpers and the log helper,
 * and starts again what dies.  Never sees a byte from a client.
 */
#ifndef MONITOR_H
#define MONITOR_H

#include <stdint.h>
#include <stdio.h>

#include "ctl_socket.h"
#include "reign.h"

struct monitor_setup {
	struct reign	*first;		/* taken */
	const char	*file;		/* the conf; NULL: none */
	int64_t		 architecture;	/* whatever is in it; or -1 */
	int		 helper;	/* the helper program, open */
	int		 error;		/* the error log; as a handle, if it
					 * can be, as is the next */
	int		 standard;	/* standard error, as started with */
	size_t		 descriptors;
	struct ctl_socket control;	/* to be asked at */
	FILE		*announce;	/* gets a line, or NULL */
	const char	*serving;	/* what it says is served */
};

/* Until a signal ends it; the exit status. */
int	monitor_run(struct monitor_setup *);

#endif
