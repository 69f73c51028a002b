/*
 * purge: forgets what targets were found to be.
 *
 * The next request for a target needs a lookup and, as versions of files go
 * with their paths, reads.  A target is purged in every spelling, with its
 * variants and listings.  Responses under way keep the version that they have.
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
	const struct conf_site	*site;		/* NULL: all sites */
	char			 path[PURGE_PATH_MAX];	/* decoded */
	size_t			 len;
	bool			 beneath;	/* path is a prefix */
	size_t			 bucket;	/* the next to be searched */
	uint64_t		 count;		/* targets purged so far */
};

/* Takes a raw target, which may end in a star; returns an error text or
 * NULL. */
const char	*purge_begin(struct purge *, const struct conf_site *,
		    struct str target);
/* Purges a part of the cache, in a short time; false: the last part. */
bool		 purge_continue(struct http_loop *, struct purge *);

#endif
