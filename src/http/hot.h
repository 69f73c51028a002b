/*
 * hot: whole responses, head and body in one piece, of files that are asked
 * for again and again.
 *
 * A response head has the date in it, and so is the same for one second.  A
 * small file that was asked for several times within the second gets a hot
 * response, which saves later requests a copy of the body.
 *
 * hot_clear() drops all of them at the end of the second.  They belong to one
 * loop; loops that share caches have none.  A piece that refers to a hot
 * response lasts for this iteration only: what is not sent by then is copied.
 */
#ifndef HTTP_HOT_H
#define HTTP_HOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/header.h"
#include "lib/str.h"

#define HOT_RESPONSES_MAX 256
#define HOT_BYTES_MAX	((size_t)256 * 1024)	/* of all responses */
#define HOT_AFTER	4	/* requests within the second before */

struct hot_response {
	struct head	*head;		/* held */
	struct str	 bytes;
};

struct hot_responses {
	bool			 disabled;
	char			*buffer;	/* NULL: none was made yet */
	size_t			 used;	/* bytes of buffer */
	unsigned		 n;
	struct hot_response	 entries[HOT_RESPONSES_MAX];
};

/* The hot response that begins with this head, or NULL.  A head's hot_index
 * counts requests up to HOT_AFTER; a larger one is the index of the entry. */
static inline const struct hot_response *
hot_find(const struct hot_responses *w, const struct head *h)
{
	return h->hot_index <= HOT_AFTER ? NULL :
	    &w->entries[h->hot_index - HOT_AFTER - 1];
}

/* Counts a response that was put together; may make a hot response of it. */
void	hot_count(struct hot_responses *, struct head *, const char *body,
	    size_t len);
/* Drops all responses: a new second has begun. */
void	hot_clear(struct hot_responses *, struct header_cache *);

#endif
