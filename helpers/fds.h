/*
 * fds: the descriptors that amped-helper is started with, beside a stream
 * pipe as its standard input.
 */
#ifndef HELPERS_FDS_H
#define HELPERS_FDS_H

enum {
	FD_DROPS = 3,		/* a byte for each line of the error log that
				 * found no room in the pipe; the error logger
				 * reads here, all others write */
	FD_LINES = 4,		/* error logger: lines of the error log */
	FD_LOG = 4,		/* access logger: log number 0 */
	FD_NOTIFY = 14,		/* helper: where directories to watch are added
				 * (helpers/notify.h), or closed */
	FD_RULES = 15,		/* helper: Landlock ruleset of the files that
				 * it may open (lib/landlock.h), or closed */
	FD_MORE_LOGS = 16,	/* access logger: log number 1, and so on */
	FD_LOGS_END = FD_MORE_LOGS + 64	/* one above the last of them */
};

#endif
