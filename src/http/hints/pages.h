/*
 * pages: pages that clients wait for, to be read for the names in them.
 *
 * A page is read by a job of its own, in the background, when its lookup has
 * ended: then it is in memory, or about to be.  The names become the list of
 * the page.
 */
#ifndef HTTP_HINTS_PAGES_H
#define HTTP_HINTS_PAGES_H

#include "cache/hint_table.h"
#include "http/conn.h"

struct pages;

struct pages	*pages_new(struct caches *, struct hint_table *);
/* No job is under way. */
void		 pages_free(struct pages **);
/* Adds the page that a request waits for.  Any thread may call this. */
void		 pages_add(struct pages *, const struct conn *,
		    const struct hint_asker *);
bool		 pages_wait(struct pages *);
/* Has main's own loop look for hints.  Any thread may call this. */
void		 pages_wake_loader(struct caches *);
/* Begins the jobs of the pages that are known by now, in main's own loop. */
void		 pages_read(struct pages *, struct http_loop *);

#endif
