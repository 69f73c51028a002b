/*
 * token_bucket: counts thousandths of tokens, so that the rate a second is the
 * number of thousandths a millisecond.
 */
#include "lib/need.h"
#include "lib/token_bucket.h"

#define TOKEN	1000

void
token_bucket_fill(struct token_bucket *b, const struct token_bucket_size *size,
    int64_t now)
{
	b->level = size->burst * TOKEN;
	b->updated_at = now;
}

int64_t
token_bucket_refill(struct token_bucket *b,
    const struct token_bucket_size *size, int64_t now)
{
	int64_t	room = size->burst * TOKEN - b->level;
	int64_t	passed = now - b->updated_at;

	/* Compared first, as the product overflows after a long time. */
	if (passed > room / size->rate)
		b->level += room;
	else
		b->level += passed * size->rate;
	b->updated_at = now;
	return b->level / TOKEN;
}

void
token_bucket_take(struct token_bucket *b, int64_t n)
{
	b->level -= n * TOKEN;
	need(n >= 0 && b->level >= 0);
}
