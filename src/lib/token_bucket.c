/*
 * token_bucket: in thousandths, so that a rate a second is a rate a
 * millisecond.
 */
#include "lib/need.h"
#include "lib/token_bucket.h"

#define WHOLE	1000

void
bucket_fill(struct bucket *b, const struct bucket_size *size, int64_t now)
{
	b->level = size->most * WHOLE;
	b->at = now;
}

int64_t
bucket_holds(struct bucket *b, const struct bucket_size *size, int64_t now)
{
	int64_t	room = size->most * WHOLE - b->level, passed = now - b->at;

	/* Compared before it is multiplied: it may have been a long time. */
	if (passed > room / size->rate)
		b->level += room;
	else
		b->level += passed * size->rate;
	b->at = now;
	return b->level / WHOLE;
}

void
bucket_take(struct bucket *b, int64_t n)
{
	b->level -= n * WHOLE;
	need(n >= 0 && b->level >= 0);
}

bool
bucket_full(const struct bucket *b, const struct bucket_size *size)
{
	return b->level == size->most * WHOLE;
}
