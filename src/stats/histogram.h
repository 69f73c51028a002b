/*
 * histogram: durations, counted in buckets of powers of two.
 *
 * A histogram has one thread that adds to it, unless all use
 * histogram_add_shared().  Other threads read it by merging it into one of
 * their own.
 */
#ifndef STATS_HISTOGRAM_H
#define STATS_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BUCKETS	32	/* the last one has no upper bound */

/* Bytes that hold the longest text of histogram_text(). */
#define HISTOGRAM_TEXT_SIZE	2048

struct histogram {
	uint64_t	count[HISTOGRAM_BUCKETS]; /* i: 2^(i-1) to 2^i us */
	uint64_t	n;		/* durations in all buckets */
	uint64_t	sum, max;	/* us */
};

void	histogram_add(struct histogram *, int64_t us);
/* Adds to a histogram to which any thread or process adds, by this function
 * alone. */
void	histogram_add_shared(struct histogram *, int64_t us);
/* Adds the second histogram to the first, which no other thread may read. */
void	histogram_merge(struct histogram *, const struct histogram *);
/* Writes "3 in all, mean 5 us, longest 9 us; 4 to 8 us: 2, 8 to 16 us: 1". */
void	histogram_text(const struct histogram *, char *, size_t);

#endif
