/*
 * advised: what a cache of chunks has for its advice (advice.h).
 */
#ifndef CACHE_ADVISED_H
#define CACHE_ADVISED_H

#include <stdint.h>

struct advice;

struct advised {
	struct advice	*advice;	/* NULL: none */
	uint32_t	 sample;	/* the advice is told of chunks with a
					 * hash below that */
	uint64_t	 later;		/* chunks asked for that were not the
					 * first of their file */
	uint64_t	 first_misses;	/* first ones that were not there */
};

#endif
