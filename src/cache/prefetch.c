/*
 * prefetch: the levels of a look-up, one at a time.
 */
#include <stddef.h>

#include "cache/pathname_private.h"
#include "cache/prefetch.h"

#define LINE_SIZE	64		/* bytes of the processor's cache */

/* Bytes to fetch; the processor itself goes on in a longer piece. */
#define PATH_SIZE	(2 * LINE_SIZE)
#define FILE_SIZE	(2 * LINE_SIZE)
#define HEAD_SIZE	(5 * LINE_SIZE)
#define COPY_SIZE	(9 * LINE_SIZE)

static inline void
fetch_lines(const void *at, size_t len)
{
	for (size_t i = 0; i < len; i += LINE_SIZE)
		__builtin_prefetch((const char *)at + i);
}

void
prefetch_begin(struct prefetch *a, const struct pathname_cache *pc,
    uint32_t namespace, struct str name)
{
	a->hash = pathname_hash(pc, namespace, name);
	a->level = 1;
	a->at = pathname_bucket(pc, a->hash);
	fetch_lines(a->at, sizeof(struct path *));
}

static const struct path *
fetch_path(const struct prefetch *a)
{
	const struct path	*p = *(struct path *const *)a->at;

	if (p != NULL)
		fetch_lines(p, PATH_SIZE);
	return p;
}

/* Fetches the file and the first head of the path that the name may have. */
static const struct file *
fetch_file(const struct prefetch *a)
{
	const struct path	*p = a->at;

	while (p != NULL && p->hash_tag != pathname_hash_tag(a->hash))
		p = p->next;
	if (p == NULL || p->file == NULL)
		return NULL;
	fetch_lines(p->file, FILE_SIZE);
	if (p->heads != NULL)
		fetch_lines(p->heads, HEAD_SIZE);
	return p->file;
}

void
prefetch_next(struct prefetch *a)
{
	const struct file	*f = a->at;

	if (a->at == NULL)
		return;
	switch (a->level++) {
	case 1:
		a->at = fetch_path(a);
		break;
	case 2:
		a->at = fetch_file(a);
		break;
	default:
		if (f->copied)
			fetch_lines(f->chunks[0], COPY_SIZE);
		a->at = NULL;
		break;
	}
}
