/*
 * outlet: where lines go, and whether one has stopped in its midst.
 */
#ifndef HELPERS_OUTLET_H
#define HELPERS_OUTLET_H

#include <stdbool.h>
#include <stddef.h>

struct outlet {
	int	fd;
	bool	torn;		/* the next line needs an end of this one */
};

/*
 * All of it; 0, or -1 with errno, and how much was written.  What others write
 * to the same pipe or terminal meanwhile stands between lines, as long as these
 * are no longer than a pipe takes whole.
 */
int	outlet_write(struct outlet *, const char *, size_t, size_t *done);

#endif
