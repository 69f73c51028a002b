/*
 * namespace: key spaces of the pathname cache.
 *
 * Each site has a namespace for its targets.  Pages and variants that are made
 * of a target are paths of the same name in other namespaces of the site.  A
 * namespace has the site's number in its low bits and its kind above them.
 */
#ifndef HTTP_NAMESPACE_H
#define HTTP_NAMESPACE_H

#include <stdint.h>

#define NAMESPACE_SHIFT	24

enum {				/* kinds */
	NAMESPACE_TARGET = 0,
	NAMESPACE_LISTING = 1,	/* to 127: pages of listing.c */
	NAMESPACE_VARIANT = 128	/* to 255: variants of variant.c */
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
