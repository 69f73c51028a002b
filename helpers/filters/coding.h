/*
 * coding: content codings (RFC 9110, section 8.4.1), from file to file.
 *
 * The formats are those of RFC 1952 (gzip), RFC 7932 (br) and RFC 8878 (zstd,
 * with windows of at most 8 MB: RFC 9659).
 */
#ifndef HELPERS_CODING_H
#define HELPERS_CODING_H

#include <stdbool.h>
#include <stdint.h>

/* All codings: id, name, suffix of a file beside another.  Their order is that
 * of preference among equal weights. */
#define CODINGS(X)							\
	X(BR,	"br",	".br")						\
	X(ZSTD,	"zstd",	".zst")						\
	X(GZIP,	"gzip",	".gz")

enum coding {
#define X(id, name, suffix) CODING_##id,
	CODINGS(X)
#undef X
	CODING_COUNT
};

#define CODING_LEVEL_MAX	19	/* of any library */

/* As in Accept-Encoding. */
const char *coding_name(enum coding);
/* The suffix of a file in that coding, with a dot. */
const char *coding_suffix(enum coding);
/* Whether this program has the library of a coding. */
bool	coding_is_built(enum coding);
/*
 * Compresses a whole file into another one, and sets the size of that.  The
 * level is one of the library's; size is that of the file, `limit` that of the
 * largest result.  0, or an errno: EFBIG if the result would have `limit` bytes
 * or more, EAGAIN if the file does not have `size` bytes.  Blocks.
 */
int	coding_compress(enum coding, int level, int from, int64_t size, int to,
	    int64_t limit, int64_t *result);
/* Whether a compressed file is complete, and has the bytes of another file of
 * that size.  Blocks. */
bool	coding_is_intact(enum coding, int fd, int from, int64_t size);

#endif
