/*
 * buf: a growing byte buffer.
 */
#ifndef LIB_BUF_H
#define LIB_BUF_H

#include <stdarg.h>
#include <stddef.h>

struct buf {
	char	*at;		/* owned; NULL while empty */
	size_t	 len;		/* used */
	size_t	 size;		/* allocated */
};

void	buf_reserve(struct buf *, size_t more);	/* room behind len */
void	buf_add(struct buf *, const void *, size_t);
void	buf_addc(struct buf *, char);
void	buf_adds(struct buf *, const char *);
void	buf_addf(struct buf *, const char *, ...)
	    __attribute__((__format__(__printf__, 2, 3), __nonnull__(2)));
void	buf_addv(struct buf *, const char *, va_list)
	    __attribute__((__format__(__printf__, 2, 0), __nonnull__(2)));
const char *buf_string(struct buf *);	/* terminated, still the buffer's */
void	buf_consume(struct buf *, size_t n);	/* n bytes off the front */
/* The same to there, at most so many; how many. */
size_t	buf_take(struct buf *, void *to, size_t most);
void	buf_free(struct buf *);			/* leaves an empty one */
/* The same, and nothing of what was in it is left in memory. */
void	buf_wipe(struct buf *);

#endif
