/*
 * fds: the descriptors that amped-helper is started with, beside a stream
 * pipe as its standard input.
 */
#ifndef HELPERS_FDS_H
#define HELPERS_FDS_H

enum {
	FD_DROPS = 3,	/* a byte for each line of the error log that
				 * found no room: written, by the error logger read */
	FD_LINES = 4,	/* error logger: lines of the error log, to read */
	FD_LOGS = 4,		/* log helper: log number 0, and so on */
	FD_RULES = 15	/* helper: which files it may reach, of
				 * lib/landlock.h; may be missing */
};

#endif
