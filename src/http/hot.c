/*
 * hot: makes responses in one piece, and forgets them.
 */
#include <string.h>

#include "http/hot.h"
#include "lib/compiler.h"
#include "lib/mem.h"

/* As the heads that they begin with. */
static size_t
aligned(size_t len)
{
	return (len + HEADER_ALIGNMENT - 1) / HEADER_ALIGNMENT *
	    HEADER_ALIGNMENT;
}

static bool
has_room(const struct wholes *w, size_t len)
{
	return w->n < WHOLES && len <= WHOLE_ROOM - w->used;
}

static RARE void
make(struct wholes *w, struct head *h, const char *body, size_t len)
{
	size_t	 head = header_len(h);
	char	*at;

	if (w->room == NULL)
		w->room = mem_aligned(HEADER_ALIGNMENT, WHOLE_ROOM);
	at = w->room + w->used;
	memcpy(at, header_bytes(h), head);
	memcpy(at + head, body, len);
	w->of[w->n].head = header_keep(h);
	w->of[w->n].bytes = (struct str){ at, head + len };
	w->used += aligned(head + len);
	h->mark = (uint16_t)(WHOLE_AFTER + ++w->n);
}

void
whole_count(struct wholes *w, struct head *h, const char *body, size_t len)
{
	if (h->mark < WHOLE_AFTER)
		h->mark++;
	else if (has_room(w, aligned(header_len(h) + len)))
		make(w, h, body, len);
}

void
whole_forget(struct wholes *w, struct header_cache *heads)
{
	while (w->n > 0) {
		w->n--;
		w->of[w->n].head->mark = 0;
		header_release(heads, &w->of[w->n].head);
	}
	w->used = 0;
}
