/*
 * metrics: the numbers of a server, by name, from lines "name value".
 */
#ifndef AMPEDCTL_METRICS_H
#define AMPEDCTL_METRICS_H

#include <stddef.h>

#include "lib/buf.h"

struct metric {
	const char	*name;		/* in text */
	double		 value;
};

struct metrics {
	char		*text;		/* owned; the names are in it */
	const char	*version;	/* the server's, in text; "": unknown */
	struct metric	*at;		/* owned, in the server's order */
	size_t		 n;
};

/* Reads all lines; skips those of another form. */
void	metrics_parse(struct metrics *, struct buf *text);
void	metrics_free(struct metrics *);
/* Returns the value of a name, which is formatted like printf; 0 if there is
 * none. */
double	metrics_get(const struct metrics *, const char *, ...)
	    __attribute__((__format__(__printf__, 2, 3)));

#endif
