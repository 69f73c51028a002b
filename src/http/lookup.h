/*
 * lookup: finds out on disk what a path is.
 */
#ifndef HTTP_LOOKUP_H
#define HTTP_LOOKUP_H

#include "http/http.h"
#include "proto/why.h"

/* Submits a lookup: a task to wait for, or NULL if it was completed at once.
 * A pending lookup of the path is joined, unless the caches are shared. */
struct task	*lookup_start(struct http_loop *, struct path *);
/* Whether there is a pending lookup to join. */
bool		 lookup_is_pending(const struct http_loop *,
		    const struct path *);
/* Submits a background lookup, which no connection waits for, unless too many
 * are submitted already.  True: it may have been completed at once. */
bool		 lookup_refresh(struct http_loop *, struct path *);

#endif
