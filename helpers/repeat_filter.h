/*
 * repeat_filter: errors and warnings that are said again and again: once, and
 * then how often.  Pure: knows neither a log nor a clock.
 */
#ifndef HELPERS_REPEAT_FILTER_H
#define HELPERS_REPEAT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/str.h"

#define REPEATS_WITHIN	5000		/* ms that a line is counted for */
#define REPEATS_KEPT	16		/* lines that are remembered */
#define REPEATS_LINE	1024		/* longer ones are not */

struct repeats {
	struct repeat {
		char		text[REPEATS_LINE];	/* without its time */
		char		time[32];	/* of the last one */
		size_t		len, time_len;
		int64_t		until;		/* ms */
		uint64_t	more;		/* that have not been told */
	}	at[REPEATS_KEPT];	/* the oldest first */
	size_t	n;
};

/* Whether this line, with its end, is to be written; else it is counted. */
bool	repeats_hear(struct repeats *, struct str line, int64_t now);
/*
 * A line that tells of those whose time is over, with how many they are; false:
 * there are none.  It is good until the next call.  Then forgets them.
 */
bool	repeats_tell(struct repeats *, int64_t now, struct str *line,
	    uint64_t *more);
/* When that is to be asked next, ms; 0: never. */
int64_t	repeats_due(const struct repeats *);

#endif
