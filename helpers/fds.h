/*
 * fds: the descriptors that amped-helper is started with, beside a stream
 * pipe as its standard input.
 */
#ifndef HELPERS_FDS_H
#define HELPERS_FDS_H

enum {
	PLACE_LOSSES = 3,	/* a byte for each line of the error log that
				 * found no room: written, by the scribe read */
	PLACE_WORDS = 4,	/* scribe: lines of the error log, to read */
	PLACE_LOGS = 4,		/* log helper: log number 0, and so on */
	PLACE_RULES = 15	/* helper: which files it may reach, of
				 * lib/landlock.h; may be missing */
};

#endif
