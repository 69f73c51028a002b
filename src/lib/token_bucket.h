/*
 * token_bucket: so many a second, so many at once: a bucket that things are
 * taken out of, and that time fills again.
 */
#ifndef LIB_TOKEN_BUCKET_H
#define LIB_TOKEN_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct bucket_size {
	int64_t	rate;			/* things a second, more than 0 */
	int64_t	most;			/* that it holds */
};

struct bucket {
	int64_t	level;			/* thousandths of things */
	int64_t	at;			/* clock ms, when that was true */
};

void	bucket_fill(struct bucket *, const struct bucket_size *, int64_t now);
/* Whole things in it now. */
int64_t	bucket_holds(struct bucket *, const struct bucket_size *,
	    int64_t now);
void	bucket_take(struct bucket *, int64_t n);	/* that are in it */
bool	bucket_full(const struct bucket *, const struct bucket_size *);

#endif
