/*
 * hot: responses in one piece, for what is asked for again and again.
 *
 * A head says what time it is, so it is the same for a second.  Who asks for a
 * small file that some others have had within that one is sent head and body as
 * they stand here, one behind the other; to put them together would be to copy
 * the body once more.
 *
 * All of them go with their second, and with the loop that made them: where
 * threads share a cache there are none.  What is sent from here must have gone
 * when the turn ends, or be copied.
 */
#ifndef HTTP_HOT_H
#define HTTP_HOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/header.h"
#include "lib/str.h"

#define HOT_RESPONSES_MAX		256			/* at most */
#define HOT_BYTES_MAX	((size_t)256 * 1024)	/* bytes, for all of them */
#define HOT_AFTER	4	/* responses that are put together first */

struct hot_response {
	struct head	*head;		/* held */
	struct str	 bytes;
};

struct hot_responses {
	bool		 disabled;		/* there are to be none */
	char		*buffer;		/* NULL: none was made yet */
	size_t		 used;		/* bytes of it */
	unsigned	 n;
	struct hot_response	 entries[HOT_RESPONSES_MAX];
};

/* The response that begins with this head; NULL: there is none.  A head's mark
 * says how many were put together, and then, which of these it is. */
static inline const struct hot_response *
hot_find(const struct hot_responses *w, const struct head *h)
{
	return h->hot_index <= HOT_AFTER
		   ? NULL
		   : &w->entries[h->hot_index - HOT_AFTER - 1];
}

/* One more was put together of these: it may be time for that. */
void	hot_count(struct hot_responses *, struct head *, const char *body,
	    size_t len);
/* A new second: none of them is true any more. */
void	hot_clear(struct hot_responses *, struct header_cache *);

#endif
