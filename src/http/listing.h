/*
 * listing: pages made of directories: which one a request wants, and in which
 * form a helper is to write it.
 *
 * A directory has several pages, by their form (HTML, JSON) and order.  Each
 * is a path of its own in the pathname cache, under the directory's target but
 * in another space: so it is looked at, kept and dropped as any file is.
 */
#ifndef HTTP_LISTING_H
#define HTTP_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include "http/conn.h"

/* Whether directories without an index are listed there, in any form. */
bool		 listing_on(const struct conf_site *,
		    const struct conf_place *);
/* The space of the page that this request wants of the directory it holds. */
uint32_t	 listing_space(const struct conn *);
/* Whether a space is of such pages. */
bool		 listing_is_page(uint32_t space);
/* The media type of the pages in such a space. */
const char	*listing_type(uint32_t space);
/* For the job: patterns of what to leave out, texts of the form. */
void		 listing_hide(const struct conf_site *,
		    const struct conf_place *, struct buf *);
void		 listing_form(const struct http *, uint32_t space,
		    const char *path, struct buf *);
/* Adds the fields that a response with the request's page needs. */
void		 listing_fields(const struct conn *, struct buf *);

#endif
