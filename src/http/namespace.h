/*
 * namespace: kinds of names in the pathname cache.
 *
 * Each site has a namespace for its targets.  Pages and variants that are made
 * of a target are paths of the same name in other namespaces of the site.  A
 * namespace has the site's number in its low bits, its kind above them, and
 * above that the form of a page, or the language of a file.
 */
#ifndef HTTP_NAMESPACE_H
#define HTTP_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/pathname.h"
#include "conf/variants.h"
#include "helpers/filters/coding.h"
#include "helpers/job.h"

#define NAMESPACE_KIND_BITS	4

/* Kinds of variants: for each coding, in their order, one for a sibling of the
 * file, then one that a helper makes; for each format, one for a sibling; the
 * file as filters make it, and what a helper makes of that. */
enum namespace_kind {
	NAMESPACE_TARGET,
	NAMESPACE_LISTING,
	NAMESPACE_VARIANT,
	NAMESPACE_MADE = NAMESPACE_VARIANT + CODING_COUNT,
	NAMESPACE_FORMAT = NAMESPACE_MADE + CODING_COUNT,
	NAMESPACE_FILTERED = NAMESPACE_FORMAT + FORMAT_COUNT,
	NAMESPACE_FILTERED_MADE,
	NAMESPACE_COUNT = NAMESPACE_FILTERED_MADE + CODING_COUNT
};

struct buf;
struct conf;
struct conn;
struct path;
struct request;

/* How names of a kind are looked up, and what responses with them have. */
struct namespace {
	enum job_kind	 job;
	const char	*coding;	/* or format, of a variant, which the
					 * file itself stands in for; NULL: no
					 * variant */
	bool		 encoded;	/* its coding is a content coding */
	bool		 undated;	/* no Last-Modified */
	/* Fills the job; it refers to text, which must not change then. */
	void		(*fill_job)(struct job *, const struct conf *,
			    const struct path *, const char *decoded,
			    struct buf *text);
	/* The media type; NULL: by the name of the file. */
	const char	*(*type)(uint32_t namespace);
	/* The variants of a file that a job has found; type NULL: without the
	 * variant to be made.  NULL: no file of the kind has variants. */
	uint16_t	(*variants)(const struct conf *, const struct path *,
			    const struct job *, const char *type);
	/* The value of Vary; NULL: there is no such field. */
	const char	*(*vary)(const struct request *);
};

extern const struct namespace	namespaces[NAMESPACE_COUNT];

static inline uint32_t
namespace_site(uint32_t ns)
{
	return ns & ((1U << PATHNAME_SITE_BITS) - 1);
}

static inline enum namespace_kind
namespace_kind(uint32_t ns)
{
	return ns >> PATHNAME_SITE_BITS & ((1U << NAMESPACE_KIND_BITS) - 1);
}

static inline uint32_t			/* of a page */
namespace_form(uint32_t ns)
{
	return ns >> PATHNAME_SITE_BITS >> NAMESPACE_KIND_BITS;
}

/* A namespace of the site of ns. */
static inline uint32_t
namespace_of(uint32_t ns, uint32_t kind, uint32_t form)
{
	return namespace_site(ns) |
	    (form << NAMESPACE_KIND_BITS | kind) << PATHNAME_SITE_BITS;
}

static inline const struct namespace *
namespace_get(uint32_t ns)
{
	return &namespaces[namespace_kind(ns)];
}

/* Whether it is a file in another coding or format. */
static inline bool
namespace_is_derived(uint32_t ns)
{
	return namespace_kind(ns) >= NAMESPACE_VARIANT &&
	    namespace_kind(ns) != NAMESPACE_FILTERED;
}

/* Whether it is a file in another coding, format or language. */
static inline bool
namespace_is_variant(uint32_t ns)
{
	return namespace_is_derived(ns) ||
	    (namespace_kind(ns) == NAMESPACE_TARGET && namespace_form(ns) > 0);
}

#endif
