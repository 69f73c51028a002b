/*
 * listing: chooses the page that lists a directory, and fills the job of the
 * helper that writes it.
 *
 * A directory has several pages: one for each form (HTML, JSON) and order.  A
 * page is a path of its own in the pathname cache, with the name of the
 * directory in another namespace.  So it is looked up, cached and evicted as a
 * file is.
 */
#ifndef HTTP_LISTING_H
#define HTTP_LISTING_H

#include <stdint.h>

#include "http/conn.h"

/* See struct namespace: the type of a page; what fills its job (patterns of
 * names to be left out, order, templates); its Vary. */
const char	*listing_type(uint32_t ns);
void		 listing_fill_job(struct job *, const struct conf *,
		    const struct path *, const char *decoded, struct buf *text);
const char	*listing_vary(const struct request *);
/* The namespace of the page that the client wants of the directory. */
uint32_t	 listing_choose(struct conn *);

#endif
