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

#include <stdbool.h>
#include <stdint.h>

#include "http/conn.h"

/* Whether the rules allow listings, in any form. */
bool		 listing_enabled(const struct conf_rules *);
/* Whether a namespace is one of listings. */
bool		 listing_is_page(uint32_t ns);
/* The media type of pages in a namespace of listings. */
const char	*listing_type(uint32_t ns);
/* Fills a JOB_LIST for a page: patterns of names to be left out, order, and
 * templates.  The job refers to text, which must not change after this. */
void		 listing_fill_job(struct job *, const struct conf *,
		    const struct path *, const char *decoded, struct buf *text);
/* Goes from the directory that the request holds to the page that the client
 * wants. */
enum go		 listing_find_page(struct conn *);
/* Adds fields that belong to a response with the request's page. */
void		 listing_add_fields(const struct conn *, struct buf *);

#endif
