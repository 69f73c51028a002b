/*
 * token_bucket: so many a second, so many at once: a bucket that things are
 * taken out of, and that time fills again.
 */
#ifndef LIB_TOKEN_BUCKET_H
#define LIB_TOKEN_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct token_bucket_size {
	int64_t	rate;			/* things a second, more than 0 */
	int64_t	burst;			/* that it holds */
};

struct token_bucket {
	int64_t	level;			/* thousandths of things */
	int64_t	updated_at;			/* clock ms, when that was true */
};

void token_bucket_fill(
    struct token_bucket *, const struct token_bucket_size *, int64_t now);
/* Whole things in it now. */
int64_t token_bucket_refill(
    struct token_bucket *, const struct token_bucket_size *, int64_t now);
void	token_bucket_take(struct token_bucket *, int64_t n);	/* that are in it */
bool token_bucket_is_full(
    const struct token_bucket *, const struct token_bucket_size *);

#endif
