/*
 * token_bucket: limits a rate, with bursts.  Pure.
 */
#ifndef LIB_TOKEN_BUCKET_H
#define LIB_TOKEN_BUCKET_H

#include <stdint.h>

struct token_bucket_size {
	int64_t	rate;			/* tokens a second, more than 0 */
	int64_t	burst;			/* tokens that the bucket holds */
};

struct token_bucket {
	int64_t	level;			/* thousandths of tokens */
	int64_t	updated_at;		/* clock ms of level */
};

/* Makes a bucket full. */
void	token_bucket_fill(struct token_bucket *,
	    const struct token_bucket_size *, int64_t now);
/* Adds the tokens of the time since updated_at; returns how many the bucket
 * has. */
int64_t	token_bucket_refill(struct token_bucket *,
	    const struct token_bucket_size *, int64_t now);
/* Takes n tokens, which the bucket must have. */
void	token_bucket_take(struct token_bucket *, int64_t n);

#endif
