/*
 * gzip: the gzip format (RFC 1952), from file to file.
 */
#ifndef HELPERS_GZIP_H
#define HELPERS_GZIP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Writes what is in a file, from its start, compressed to another one; 0, or
 * an errno: EFBIG when that would take limit bytes or more.
 */
int	gzip_compress(int from, int to, int64_t limit, int64_t *size);
/* Whether a file is whole, and of so many bytes. */
bool	gzip_intact(int fd, int64_t size);

#endif
