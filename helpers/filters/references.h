/*
 * references: names of the files that a page of HTML refers to.
 */
#ifndef HELPERS_FILTERS_REFERENCES_H
#define HELPERS_FILTERS_REFERENCES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/buf.h"

#define REFERENCES_MAX		64	/* names */
#define REFERENCES_PAGE_MAX	(256 * 1024)	/* bytes of a page that are
						 * read */
#define REFERENCES_NAME_MAX	1024	/* bytes of a name */

/* Adds the names of styles, scripts and pictures in a page, one in each line,
 * as they stand there, but for &amp;.  None, if the page has a base. */
void	references_find(const char *page, size_t len, struct buf *);
/* Reads the first part of an open page, and puts its names into an anonymous
 * file, which is returned; -1 with errno.  Blocks. */
int	references_list(int fd, bool *in_memory);

#endif
