/*
 * purge: forgets what was found out about targets, so that the next request for
 * them needs a look and, as their versions go with that, a read.
 *
 * A target is meant in every spelling, with its variants and listings.  What is
 * under way goes on with the version that it has.
 */
#ifndef HTTP_PURGE_H
#define HTTP_PURGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/machine.h"
#include "lib/str.h"

struct conf_site;

#define PURGE_PATH_MAX	4096	/* bytes, decoded */

struct purge {
	const struct conf_site	*site;		/* NULL: all of them */
	char			 path[PURGE_PATH_MAX];	/* decoded */
	size_t			 len;
	bool			 beneath;	/* what begins with it, too */
	size_t			 bucket;	/* the next one */
	uint64_t		 count;		/* of targets, so far */
};

/* A raw target, which may end in a star; NULL, or what is wrong with it. */
const char	*purge_begin(struct purge *, const struct conf_site *,
		    struct str target);
/* A part of it, soon done; false: that was the last one. */
bool		 purge_continue(struct http_loop *, struct purge *);

#endif
