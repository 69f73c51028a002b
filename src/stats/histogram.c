/*
 * histogram: adding costs a few instructions and no division.
 */
#include "stats/histogram.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "lib/counter.h"

/* The bucket whose upper bound is the first power of two above us. */
static int
bucket_of(uint64_t us)
{
	int	i = us == 0 ? 0 : 64 - __builtin_clzll(us);

	return i < HISTOGRAM_BUCKETS ? i : HISTOGRAM_BUCKETS - 1;
}

void
histogram_add(struct histogram *h, int64_t took)
{
	uint64_t	us = took > 0 ? (uint64_t)took : 0;

	counter_add(&h->count[bucket_of(us)], 1);
	counter_add(&h->n, 1);
	counter_add(&h->sum, us);
	if (us > h->max)
		counter_set(&h->max, us);
}

void
histogram_add_shared(struct histogram *h, int64_t took)
{
	uint64_t	us = took > 0 ? (uint64_t)took : 0;
	uint64_t	max = counter_read(&h->max);

	counter_add_shared(&h->count[bucket_of(us)], 1);
	counter_add_shared(&h->n, 1);
	counter_add_shared(&h->sum, us);
	while (us > max && !__atomic_compare_exchange_n(&h->max, &max, us, true,
	    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
}

void
histogram_merge(struct histogram *to, const struct histogram *h)
{
	uint64_t	max = counter_read(&h->max);

	for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->count[i] += counter_read(&h->count[i]);
	to->n += counter_read(&h->n);
	to->sum += counter_read(&h->sum);
	if (max > to->max)
		to->max = max;
}

/* Prints a bucket.  The first one counts 0 us, the last has no upper bound. */
static int
print_bucket(int i, uint64_t n, const char *before, char *text, size_t size)
{
	uint64_t	min = i == 0 ? 0 : (uint64_t)1 << (i - 1);

	if (i == HISTOGRAM_BUCKETS - 1)
		return snprintf(text, size, "%s%" PRIu64 " us and more: %"
		    PRIu64, before, min, n);
	return snprintf(text, size, "%s%" PRIu64 " to %" PRIu64 " us: %"
	    PRIu64, before, min, (uint64_t)1 << i, n);
}

void
histogram_text(const struct histogram *h, char *text, size_t size)
{
	const char	*before = "; ";
	int		 n;

	n = snprintf(text, size, "%" PRIu64 " in all, mean %" PRIu64
	    " us, longest %" PRIu64 " us", h->n, h->n > 0 ? h->sum / h->n : 0,
	    h->max);
	for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (h->count[i] == 0 || n < 0 || (size_t)n >= size)
			continue;
		n += print_bucket(i, h->count[i], before, text + n,
		    size - (size_t)n);
		before = ", ";
	}
}
