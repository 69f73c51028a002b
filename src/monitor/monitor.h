/*
 * monitor: keeps the privileges, starts main, the helpers and the log helper,
 * and starts again what dies.  Never sees a byte from a client.
 */
#ifndef MONITOR_MONITOR_H
#define MONITOR_MONITOR_H

#include <stdint.h>
#include <stdio.h>

#include "lib/sd_notify.h"
#include "monitor/control_socket.h"
#include "monitor/generation.h"
#include "monitor/pidfile.h"
#include "monitor/standard_error.h"
#include "monitor/upgrade.h"

struct monitor_setup {
	struct generation	*first;		/* taken */
	const char	*conf_file;		/* the conf; NULL: none */
	int64_t		 architecture;	/* whatever is in it; or -1 */
	int		 helper;	/* the helper program, open */
	int		 error_log;		/* the error log; as a handle, if it
					 * can be, as is standard's */
	struct standard_error	 standard_error;	/* standard error, as started with */
	size_t		 descriptors;
	struct control_socket control;	/* to be asked at */
	FILE		*announce;	/* gets a line, or NULL */
	const char	*served;	/* what it says is served */
	int		 daemon_pipe;	/* who does until we serve; or -1 */
	struct inherited	 inherited;
	struct sd_notify	 notify;
	struct pidfile	 pidfile;
	const char	*program;	/* to be started by USR2, and ... */
	char		**arguments;	/* ... how */
};

/* Until a signal ends it; the exit status.  Signals are blocked before. */
int	monitor_run(struct monitor_setup *);

#endif
