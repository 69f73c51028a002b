/*
 * repeat_filter: passes a repeated error or warning once, and then its count.
 * Pure: the caller has the log and the clock.
 */
#ifndef HELPERS_REPEAT_FILTER_H
#define HELPERS_REPEAT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/str.h"

#define REPEAT_FILTER_INTERVAL	5000	/* ms that a line is counted for */
#define REPEAT_FILTER_LINES	16	/* lines that are remembered */
#define REPEAT_FILTER_LINE_MAX	1024	/* bytes; longer lines pass */

struct repeat_filter {
	struct repeat {
		char		text[REPEAT_FILTER_LINE_MAX];	/* no time */
		char		time[32];	/* of the last repeat */
		size_t		len, time_len;
		int64_t		ends_at;	/* ms */
		uint64_t	count;		/* repeats, not yet reported */
	}	at[REPEAT_FILTER_LINES];	/* the oldest first */
	size_t	n;
};

/* Whether to write this line, with its newline; false: it has been counted. */
bool	repeat_filter_add(struct repeat_filter *, struct str line, int64_t now);
/*
 * Takes the next line whose interval has ended, with the count of its repeats;
 * false: none.  The text is valid until the next call.
 */
bool	repeat_filter_next(struct repeat_filter *, int64_t now,
	    struct str *line, uint64_t *count);
/*
 * Takes the next count that is to be written before this line, which passes: of
 * a line of the same process.  Else a count would stand in the midst of what
 * the process does later.  False: none.
 */
bool	repeat_filter_before(struct repeat_filter *, struct str next,
	    struct str *line, uint64_t *count);
/* When to call repeat_filter_next() again, ms; 0: no need. */
int64_t	repeat_filter_next_at(const struct repeat_filter *);

#endif
