/*
 * screen: the state of a server on one screen.  Pure: numbers in, lines out.
 */
#ifndef AMPEDCTL_SCREEN_H
#define AMPEDCTL_SCREEN_H

#include <stddef.h>

#include "ampedctl/metrics.h"
#include "lib/buf.h"

#define SCREEN_COLUMNS	80	/* width that nothing needs more than */
#define SCREEN_COLUMNS_MIN 20
#define SCREEN_LINES_MIN 23	/* height without lines of file systems */

/*
 * Adds at most so many lines of at most so many columns, or of
 * SCREEN_COLUMNS_MIN if that is more.  A line that is too long goes on in the
 * next one; with few lines, the last ones are left out.  before: the numbers of
 * so many seconds ago, for rates; NULL: no rates are shown.
 */
void	screen_draw(struct buf *, const struct metrics *now,
	    const struct metrics *before, double seconds, size_t columns,
	    size_t lines);

#endif
