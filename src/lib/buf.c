/*
 * buf: grows by doubling; memory comes from mem, so adding cannot fail.
 */
#include <stdio.h>
#include <string.h>

#include "lib/buf.h"
#include "lib/mem.h"
#include "lib/need.h"

void
buf_grow(struct buf *b, size_t more)
{
	size_t	size = b->size == 0 ? 256 : b->size;

	while (size - b->len < more)
		size *= 2;
	b->at = mem_grow(b->at, size, 1);
	b->size = size;
}

void
buf_add(struct buf *b, const void *bytes, size_t n)
{
	if (n == 0)
		return;
	buf_reserve(b, n);
	memcpy(b->at + b->len, bytes, n);
	b->len += n;
}

void
buf_add_number(struct buf *b, uint64_t n)
{
	char	 digits[20], *end = digits + sizeof(digits), *at = end;

	do
		*--at = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	buf_add(b, at, (size_t)(end - at));
}

void
buf_addv(struct buf *b, const char *format, va_list args)
{
	va_list	again;
	int	n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, args);
	need(n >= 0);
	buf_reserve(b, (size_t)n + 1);
	vsnprintf(b->at + b->len, (size_t)n + 1, format, again);
	va_end(again);
	b->len += (size_t)n;
}

void
buf_addf(struct buf *b, const char *format, ...)
{
	va_list	args;

	va_start(args, format);
	buf_addv(b, format, args);
	va_end(args);
}

const char *
buf_string(struct buf *b)
{
	buf_reserve(b, 1);
	b->at[b->len] = '\0';
	return b->at;
}

void
buf_consume(struct buf *b, size_t n)
{
	need(n <= b->len);
	b->len -= n;
	if (n > 0 && b->len > 0)
		memmove(b->at, b->at + n, b->len);
}

size_t
buf_take(struct buf *b, void *to, size_t max)
{
	size_t	n = b->len < max ? b->len : max;

	if (n > 0)
		memcpy(to, b->at, n);
	buf_consume(b, n);
	return n;
}

void
buf_wipe(struct buf *b)
{
	if (b->at == NULL)
		return;
	explicit_bzero(b->at, b->size);
	buf_free(b);
}

void
buf_free(struct buf *b)
{
	if (b->at == NULL)
		return;
	mem_drop(&b->at);
	b->len = b->size = 0;
}
