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

#define REPEAT_FILTER_INTERVAL	5000		/* ms that a line is counted for */
#define REPEAT_FILTER_LINES	16		/* lines that are remembered */
#define REPEAT_FILTER_LINE_MAX	1024		/* longer ones are not */

struct repeat_filter {
	struct repeat {
		char		text[REPEAT_FILTER_LINE_MAX];	/* without its time */
		char		time[32];	/* of the last one */
		size_t		len, time_len;
		int64_t		ends_at;		/* ms */
		uint64_t	count;		/* that have not been told */
	}	at[REPEAT_FILTER_LINES];	/* the oldest first */
	size_t	n;
};

/* Whether this line, with its end, is to be written; else it is counted. */
bool	repeat_filter_add(struct repeat_filter *, struct str line, int64_t now);
/*
 * A line that tells of those whose time is over, with how many they are; false:
 * there are none.  It is good until the next call.  Then forgets them.
 */
bool repeat_filter_next(
    struct repeat_filter *, int64_t now, struct str *line, uint64_t *count);
/* When that is to be asked next, ms; 0: never. */
int64_t	repeat_filter_next_at(const struct repeat_filter *);

#endif
