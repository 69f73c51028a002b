/*
 * histogram: how often something took how long, in powers of two.
 *
 * One thread adds to it; others may read it meanwhile by joining it to a copy.
 */
#ifndef LIB_HISTOGRAM_H
#define LIB_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BUCKETS	32		/* the last has no end: "and more" */

/* Room for any text: bytes. */
#define HISTOGRAM_TEXT_SIZE	2048

struct histogram {
	uint64_t	count[HISTOGRAM_BUCKETS];	/* from 2^(i-1) to 2^i us */
	uint64_t	n, sum, max;		/* us */
};

void	histogram_add(struct histogram *, int64_t us);
/* Adds the second one to the first, which is nobody else's. */
void	histogram_merge(struct histogram *, const struct histogram *);
/* "3 in all, mean 5 us, longest 9 us; 4 to 8 us: 2, 8 to 16 us: 1" */
void	histogram_text(const struct histogram *, char *, size_t);

#endif
