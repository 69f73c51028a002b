/*
 * regular: files to be read, and nothing else that may bear their name: a FIFO
 * or a terminal would be waited for, and to open some devices does something.
 */
#ifndef LIB_REGULAR_H
#define LIB_REGULAR_H

#include <sys/types.h>

/* "a file", "a FIFO" and the like. */
const char	*regular_kind(mode_t);
/* The kind of what is no file; NULL: it is one, or the null device, or it
 * cannot be looked at. */
const char	*regular_other_kind(const char *name);
/* To be read; -1 with errno, EINVAL if it is no file. */
int		 regular_open(const char *name);

#endif
