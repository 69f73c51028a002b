/*
 * gzip: the gzip format (RFC 1952), from file to file.
 */
#ifndef HELPERS_GZIP_H
#define HELPERS_GZIP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Compresses a whole file into another one, and sets the size of that.  0, or
 * an errno: EFBIG if the result would have `limit` bytes or more.
 */
int	gzip_compress(int from, int to, int64_t limit, int64_t *size);
/* Whether a compressed file is complete, and has so many bytes unpacked. */
bool	gzip_intact(int fd, int64_t size);

#endif
