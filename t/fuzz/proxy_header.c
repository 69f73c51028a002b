/*
 * Fuzz target of proto/proxy_header: what is right or wrong stays so, however
 * many bytes follow; no part of a right header is right.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/need.h"
#include "proto/proxy_header.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

#define STEPS	256		/* prefixes that are tried */

static void
need_same(const struct proxy_header *a, const struct proxy_header *b)
{
	need(a->size == b->size && a->family == b->family);
	need(memcmp(a->addr, b->addr, sizeof(a->addr)) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char			*at = (const char *)data;
	struct proxy_header		 whole, part;
	enum proxy_header_result	 last, now;
	size_t				 step = size / STEPS + 1;

	last = proxy_header_read(at, size, &whole);
	need(last != PROXY_HEADER_DONE || (whole.size > 0 &&
	    whole.size <= size && whole.size <= PROXY_HEADER_MAX));
	need(last != PROXY_HEADER_WRONG || whole.why != NULL);
	need(last != PROXY_HEADER_MORE || size < PROXY_HEADER_MAX);
	for (size_t len = 0; len < size; len += step) {
		now = proxy_header_read(at, len, &part);
		if (now == PROXY_HEADER_DONE) {
			need(last == PROXY_HEADER_DONE);
			need_same(&part, &whole);
		}
		if (now == PROXY_HEADER_WRONG)
			need(last == PROXY_HEADER_WRONG);
		if (last == PROXY_HEADER_DONE && len < whole.size)
			need(now == PROXY_HEADER_MORE);
	}
	return 0;
}
