/*
 * prefetch: the links of a look-up, one at a time.
 */
#include <stddef.h>

#include "cache/pathname_private.h"
#include "cache/prefetch.h"

#define LINE	64		/* bytes, of a processor's cache */

/* What is longer, the processor sees coming by itself. */
#define PATH	(2 * LINE)
#define RECORD	(2 * LINE)
#define HEAD	(5 * LINE)
#define COPY	(9 * LINE)

static inline void
fetch(const void *at, size_t len)
{
	for (size_t i = 0; i < len; i += LINE)
		__builtin_prefetch((const char *)at + i);
}

void
ahead_begin(struct ahead *a, const struct pathname_cache *pc, uint32_t space,
    struct str name)
{
	a->hash = pathname_hash(pc, space, name);
	a->link = 1;
	a->at = pathname_bucket(pc, a->hash);
	fetch(a->at, sizeof(struct path *));
}

static const struct path *
first_path(const struct ahead *a)
{
	const struct path	*p = *(struct path *const *)a->at;

	if (p != NULL)
		fetch(p, PATH);
	return p;
}

/* That of the path which it is, or may be. */
static const struct file *
file(const struct ahead *a)
{
	const struct path	*p = a->at;

	while (p != NULL && p->hash_tag != pathname_hash_tag(a->hash))
		p = p->next;
	if (p == NULL || p->file == NULL)
		return NULL;
	fetch(p->file, RECORD);
	if (p->heads != NULL)
		fetch(p->heads, HEAD);
	return p->file;
}

void
ahead_go_on(struct ahead *a)
{
	const struct file	*f = a->at;

	if (a->at == NULL)
		return;
	switch (a->link++) {
	case 1:
		a->at = first_path(a);
		break;
	case 2:
		a->at = file(a);
		break;
	default:
		if (f->copied)
			fetch(f->chunks[0], COPY);
		a->at = NULL;
		break;
	}
}
