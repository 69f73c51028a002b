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
bool		 listing_enabled(const struct conf_rules *);
/* Whether a space is of such pages. */
bool		 listing_is_page(uint32_t ns);
/* The media type of the pages in such a space. */
const char	*listing_type(uint32_t ns);
/*
 * What to leave out of a page and the form that it is written in, for its job:
 * they are added to a text that must stay as it is while the job lives.
 */
void		 listing_fill_job(struct job *, const struct conf *,
		    const struct path *, const char *decoded, struct buf *text);
/* From the directory that a request holds to the page of it that it wants. */
enum go		 listing_find_page(struct conn *);
/* Adds the fields that a response with the request's page needs. */
void		 listing_add_fields(const struct conn *, struct buf *);

#endif
