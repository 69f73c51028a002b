/*
 * advised: what a cache of chunks has for its advice (advice.h).
 */
#ifndef CACHE_ADVISED_H
#define CACHE_ADVISED_H

#include <stdint.h>

struct advice;

struct advised {
	struct advice	*advice;	/* NULL: none */
	uint32_t	 sample;	/* the advice is told of chunks whose
					 * hash is below this number */
	uint64_t	 later;		/* requests for chunks other than the
					 * first of a file, or not admitted */
	uint64_t	 first_misses;	/* misses of first chunks of files */
};

#endif
