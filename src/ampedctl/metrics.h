/*
 * metrics: what a server has counted, by name: "name value" lines.
 */
#ifndef AMPEDCTL_METRICS_H
#define AMPEDCTL_METRICS_H

#include <stddef.h>

#include "lib/buf.h"

struct number {
	const char	*name;
	double		 value;
};

struct numbers {
	char		*text;		/* owned: the names, and: */
	const char	*version;	/* "" if it is not said */
	struct number	*at;		/* owned, in the server's order */
	size_t		 n;
};

/* A line that is something else is passed over. */
void	numbers_read(struct numbers *, struct buf *text);
void	numbers_free(struct numbers *);
/* 0 if there is none of that name; the name is put together like printf. */
double	numbers_get(const struct numbers *, const char *, ...)
	    __attribute__((__format__(__printf__, 2, 3)));

#endif
