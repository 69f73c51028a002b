/*
 * metrics: what a server has counted, by name: "name value" lines.
 */
#ifndef AMPEDCTL_METRICS_H
#define AMPEDCTL_METRICS_H

#include <stddef.h>

#include "lib/buf.h"

struct metric {
	const char	*name;
	double		 value;
};

struct metrics {
	char		*text;		/* owned: the names, and: */
	const char	*version;	/* "" if it is not said */
	struct metric	*at;		/* owned, in the server's order */
	size_t		 n;
};

/* A line that is something else is passed over. */
void	metrics_parse(struct metrics *, struct buf *text);
void	metrics_free(struct metrics *);
/* 0 if there is none of that name; the name is put together like printf. */
double	metrics_get(const struct metrics *, const char *, ...)
	    __attribute__((__format__(__printf__, 2, 3)));

#endif
