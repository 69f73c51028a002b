/*
 * lines: finds lines in a block of bytes for a log.  Pure.
 */
#ifndef LIB_LINES_H
#define LIB_LINES_H

#include <stddef.h>
#include <stdint.h>

/* With "log names", the access logger replaces an address between two of these
 * bytes by the host's name.  The byte occurs nowhere else in a line. */
#define LINES_NAME_MARK	'\1'

/* A line that begins with this byte, digits and the byte again is for the log
 * of that number; others are for log 0. */
#define LINES_LOG_MARK	'\2'

/* The number of newlines. */
uint64_t	lines_count(const char *, size_t);
/* Bytes of the first line, its newline included if there is one. */
size_t		lines_first(const char *, size_t);
/* How many bytes to write at a time: len if that is at most max, else those of
 * the complete lines that fit into max, or max if the first line is longer. */
size_t		lines_whole(const char *, size_t, size_t max);

#endif
