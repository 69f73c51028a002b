/*
 * screen: what a server is doing, on one screen.  Pure: numbers in, lines out.
 */
#ifndef AMPEDCTL_SCREEN_H
#define AMPEDCTL_SCREEN_H

#include <stddef.h>

#include "ampedctl/metrics.h"
#include "lib/buf.h"

#define SCREEN_COLUMNS_MIN	80	/* the least that there is room in for all */
#define SCREEN_LINES_MIN	23	/* what it takes, but for file systems */

/*
 * Adds at most that many lines of at most that many columns.  before is what
 * there was so many seconds ago, for rates; NULL: there are none.
 */
void	screen_draw(struct buf *, const struct metrics *now,
	    const struct metrics *before, double seconds, size_t columns,
	    size_t lines);

#endif
