/*
 * namespace: the name spaces of the pathname cache, beside that of each site:
 * what else there is under a target, each a path of its own.
 *
 * A space is a site's number in its low bits, and what it is of above them.
 */
#ifndef HTTP_NAMESPACE_H
#define HTTP_NAMESPACE_H

#include <stdint.h>

#define NAMESPACE_SHIFT	24

enum {
	NAMESPACE_TARGET = 0,	/* the target itself: nothing beside the site */
	NAMESPACE_LISTING = 1,	/* the first of the pages, listing.c's */
	NAMESPACE_VARIANT = 128	/* the first of the variants, variant.c's */
};

static inline uint32_t
namespace_of(uint32_t site, uint32_t kind)
{
	return site | kind << NAMESPACE_SHIFT;
}

static inline uint32_t
namespace_site(uint32_t ns)
{
	return ns & ((1U << NAMESPACE_SHIFT) - 1);
}

static inline uint32_t
namespace_kind(uint32_t ns)
{
	return ns >> NAMESPACE_SHIFT;
}

#endif
