/*
 * histogram: how often something took how long, in powers of two.
 */
#ifndef LIB_HISTOGRAM_H
#define LIB_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_STEPS	32		/* the last has no end */

struct histogram {
	uint64_t	count[HISTOGRAM_STEPS];	/* below 2^i us */
	uint64_t	n, sum, most;		/* us */
};

void	histogram_add(struct histogram *, int64_t us);
/* "3 in all, mean 5 us, longest 9 us; below 8 us: 2, 16 us: 1" */
void	histogram_text(const struct histogram *, char *, size_t);

#endif
