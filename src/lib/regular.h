/*
 * regular: opens regular files only.
 *
 * Opening a FIFO or a terminal may block, and opening some devices has effects.
 */
#ifndef LIB_REGULAR_H
#define LIB_REGULAR_H

#include <sys/types.h>

/* "a file", "a FIFO", and so on, for messages. */
const char	*regular_kind(mode_t);
/* NULL for a regular file, for /dev/null, and where stat(2) fails; else the
 * kind of what the name leads to. */
const char	*regular_other_kind(const char *name);
/* Opens a file for reading, close-on-exec; -1 with errno, which is EINVAL for
 * all but regular files and /dev/null. */
int		 regular_open(const char *name);

#endif
