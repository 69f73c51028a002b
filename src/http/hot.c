/*
 * hot: makes and drops hot responses.
 */
#include <string.h>

#include "http/hot.h"
#include "lib/compiler.h"
#include "lib/mem.h"

/* Responses are aligned as heads are. */
static size_t
align_len(size_t len)
{
	return (len + HEADER_ALIGNMENT - 1) / HEADER_ALIGNMENT *
	    HEADER_ALIGNMENT;
}

static bool
has_room(const struct hot_responses *w, size_t len)
{
	return w->n < HOT_RESPONSES_MAX && len <= HOT_BYTES_MAX - w->used;
}

static COLD void
add_response(struct hot_responses *w, struct head *h, const char *body,
    size_t len)
{
	size_t	 head = header_len(h);
	char	*at;

	if (w->buffer == NULL)
		w->buffer = mem_aligned(HEADER_ALIGNMENT, HOT_BYTES_MAX);
	at = w->buffer + w->used;
	memcpy(at, header_bytes(h), head);
	memcpy(at + head, body, len);
	w->entries[w->n].head = header_hold_again(h);
	w->entries[w->n].bytes = (struct str){ at, head + len };
	w->used += align_len(head + len);
	h->hot_index = (uint16_t)(HOT_AFTER + ++w->n);
}

void
hot_count(struct hot_responses *w, struct head *h, const char *body, size_t len)
{
	if (h->hot_index < HOT_AFTER)
		h->hot_index++;
	else if (has_room(w, align_len(header_len(h) + len)))
		add_response(w, h, body, len);
}

void
hot_clear(struct hot_responses *w, struct header_cache *heads)
{
	while (w->n > 0) {
		w->n--;
		w->entries[w->n].head->hot_index = 0;
		header_release(heads, &w->entries[w->n].head);
	}
	w->used = 0;
}
