/*
 * lines: whole lines in bytes that are on their way to a log.
 */
#ifndef LIB_LINES_H
#define LIB_LINES_H

#include <stddef.h>
#include <stdint.h>

/* In a log with names an address between two of these stands for the name of
 * whoever has it; no other byte of a line is like them. */
#define LINES_NAME_MARK	'\1'

/* How many end here. */
uint64_t	lines_count(const char *, size_t);
/* Bytes of the first, with its end if it has one. */
size_t		lines_first(const char *, size_t);
/* Bytes of the whole lines at the front, at most so many; where the first line
 * is longer, or has no end, so many of it. */
size_t		lines_whole(const char *, size_t, size_t most);

#endif
