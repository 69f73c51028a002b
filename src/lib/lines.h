/*
 * lines: whole lines in bytes that are on their way to a log.
 */
#ifndef LIB_LINES_H
#define LIB_LINES_H

#include <stddef.h>
#include <stdint.h>

/* How many end here. */
uint64_t	lines_count(const char *, size_t);
/* Bytes of the whole lines at the front, at most so many; where the first line
 * is longer, or has no end, so many of it. */
size_t		lines_whole(const char *, size_t, size_t most);

#endif
