/*
 * pathname_private: what pathname.c and answer.c do for each other, who have
 * their lock.
 */
#ifndef CACHE_PATHNAME_PRIVATE_H
#define CACHE_PATHNAME_PRIVATE_H

#include "cache/pathname.h"

struct answer;

/* Not held, nor counted. */
struct path	*pathname_find(const struct pathname_cache *, uint32_t space,
		    struct str name);
void		 pathname_forget_heads(struct pathname_cache *, struct path *);
/* To be said when there is one more. */
void		 pathname_thin_heads(struct pathname_cache *);
/* Heads and file; to be followed by another answer, or by the end. */
void		 pathname_forget_answer(struct pathname_cache *, struct path *);
void		 answer_set(struct pathname_cache *, struct path *,
		    const struct answer *);

#endif
