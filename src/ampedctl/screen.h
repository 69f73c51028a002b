/*
 * screen: what a server is doing, on one screen.  Pure: numbers in, lines out.
 */
#ifndef AMPEDCTL_SCREEN_H
#define AMPEDCTL_SCREEN_H

#include <stddef.h>

#include "ampedctl/metrics.h"
#include "lib/buf.h"

#define VIEW_COLUMNS	80	/* the least that there is room in for all */
#define VIEW_LINES	23	/* what it takes, but for file systems */

/*
 * Adds at most that many lines of at most that many columns.  before is what
 * there was so many seconds ago, for rates; NULL: there are none.
 */
void	view(struct buf *, const struct numbers *now,
	    const struct numbers *before, double seconds, size_t columns,
	    size_t lines);

#endif
