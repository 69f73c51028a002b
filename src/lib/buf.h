/*
 * buf: a growing byte buffer.  A zeroed struct is an empty one.
 */
#ifndef LIB_BUF_H
#define LIB_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf {
	char	*at;		/* owned; NULL while empty */
	size_t	 len;		/* used */
	size_t	 size;		/* allocated */
};

void	buf_grow(struct buf *, size_t more);	/* for buf_reserve() */
void	buf_add(struct buf *, const void *, size_t);
void	buf_add_number(struct buf *, uint64_t);	/* decimal */
void	buf_addf(struct buf *, const char *, ...)
	    __attribute__((__format__(__printf__, 2, 3), __nonnull__(2)));
void	buf_addv(struct buf *, const char *, va_list)
	    __attribute__((__format__(__printf__, 2, 0), __nonnull__(2)));
/* The bytes as a terminated string, which the buffer owns. */
const char *buf_string(struct buf *);
void	buf_consume(struct buf *, size_t n);	/* drops n bytes in front */
/* Moves at most max bytes from the front to another place; returns how many. */
size_t	buf_take(struct buf *, void *to, size_t max);
void	buf_free(struct buf *);			/* leaves an empty buffer */
/* As buf_free(), and overwrites the memory with zeros before. */
void	buf_wipe(struct buf *);

/* Makes room for that many bytes behind len. */
static inline void
buf_reserve(struct buf *b, size_t more)
{
	if (b->at == NULL || b->size - b->len < more)
		buf_grow(b, more);
}

static inline void
buf_addc(struct buf *b, char c)
{
	buf_reserve(b, 1);
	b->at[b->len++] = c;
}

/* Inline, so that the length of a literal is a constant. */
static inline void
buf_adds(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

#endif
