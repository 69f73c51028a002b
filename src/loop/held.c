/*
 * held: what counts is the memory of the buffers, which grow by doubling and
 * shrink when they are empty only.
 */
#include <sys/param.h>

#include "lib/need.h"
#include "loop/held.h"

bool
held_grow(struct held_total *total, size_t *counted, size_t bytes)
{
	size_t	now = HELD_MIN + *counted, size = now;

	while (size < bytes)
		size *= 2;
	size -= now;
	if (size == 0)
		return true;
	if (atomic_fetch_add(&total->bytes, size) + size > total->most) {
		atomic_fetch_sub(&total->bytes, size);
		return false;
	}
	*counted += size;
	return true;
}

void
held_uncount(struct held_total *total, size_t *counted)
{
	atomic_fetch_sub(&total->bytes, *counted);
	*counted = 0;
}

static void
take_spare(struct held *h)
{
	if (h->spare == NULL)
		return;
	h->output = *h->spare;
	*h->spare = (struct buf){ 0 };
}

/* Leaves the buffer to the next answer, unless it is large. */
static void
leave_buffer(struct held *h)
{
	if (h->spare == NULL || h->spare->at != NULL ||
	    h->output.size != HELD_MIN) {
		buf_free(&h->output);
		return;
	}
	*h->spare = h->output;
	h->spare->len = 0;
	h->output = (struct buf){ 0 };
}

size_t
held_make_room(struct held *h, struct backend *b)
{
	size_t	room = MIN(HELD_MIN, h->most - b->len);

	buf_consume(&h->output, h->output.len - b->len);
	if (!held_grow(h->total, &h->counted, b->len + room))
		room = HELD_MIN + h->counted - b->len;
	if (h->output.at == NULL)
		take_spare(h);
	buf_reserve(&h->output, room);
	b->at = h->output.at;
	return room;
}

void
held_consume(struct held *h, struct backend *b, size_t n)
{
	need(n <= b->len);
	b->len -= n;
	b->at = b->len > 0 ? b->at + n : NULL;
	if (b->len == 0)
		held_free(h);
}

bool
held_is_low(const struct held *h, const struct backend *b)
{
	return b->len <= MIN(h->most, HELD_MIN + h->counted) / 2;
}

void
held_free(struct held *h)
{
	leave_buffer(h);
	held_uncount(h->total, &h->counted);
}
