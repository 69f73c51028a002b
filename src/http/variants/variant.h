/*
 * variant: a file in another content coding or language, or a picture in
 * another format: which variants a file has, and which one a request gets.
 *
 * A variant is a path of its own in the pathname cache, with the name of the
 * file in another namespace.  So it has its own lookups, version, entity tag
 * and heads, and its ranges and conditions are about the bytes that are sent.
 * path->variants of the file has a bit for each variant.  A request that gets
 * a variant costs one more look-up in the cache; other requests cost nothing.
 */
#ifndef HTTP_VARIANTS_VARIANT_H
#define HTTP_VARIANTS_VARIANT_H

#include <stdint.h>

#include "conf/variants.h"
#include "http/conn.h"
#include "http/namespace.h"
#include "http/variants/language.h"
#include "proto/why.h"

/* The first variant has the lowest bit of path_info->variants. */
#define NAMESPACE_MADE_BIT	(1U << CODING_COUNT)	/* the first made */
#define NAMESPACE_FILTERED_BIT					\
	(1U << (NAMESPACE_FILTERED - NAMESPACE_VARIANT))
#define NAMESPACE_CODING_BITS	((1U << 2 * CODING_COUNT) - 1)
#define NAMESPACE_FORMAT_BIT	(1U << 2 * CODING_COUNT)	/* the first */
#define NAMESPACE_FORMAT_BITS						\
	(NAMESPACE_FORMAT_BIT * ((1U << FORMAT_COUNT) - 1))
#define NAMESPACE_LANGUAGE_BIT	(NAMESPACE_FILTERED_BIT << 1)	/* the first */
#define NAMESPACE_LANGUAGE_BITS						\
	(NAMESPACE_LANGUAGE_BIT * ((1U << CONF_LANGUAGES_MAX) - 1))
#define NAMESPACE_MADE_BITS						\
	(NAMESPACE_MADE_BIT * ((1U << CODING_COUNT) - 1))

/* Whether it is the file as filters make it. */
static inline bool
variant_is_filtered(uint32_t ns)
{
	return namespace_kind(ns) == NAMESPACE_FILTERED;
}

/* Whether its names have queries: so do those of its variants. */
static inline bool
variant_has_query(uint32_t ns)
{
	return namespace_kind(ns) >= NAMESPACE_FILTERED;
}

static inline enum coding
variant_coding(uint32_t ns)
{
	return (namespace_kind(ns) - (variant_has_query(ns) ?
	    NAMESPACE_FILTERED_MADE : NAMESPACE_VARIANT)) % CODING_COUNT;
}

/* The bit of a variant among those of its base. */
static inline unsigned
variant_bit(uint32_t ns)
{
	if (namespace_kind(ns) == NAMESPACE_TARGET)
		return NAMESPACE_LANGUAGE_BIT << language_number(ns) >> 1;
	return 1U << (variant_has_query(ns) ? CODING_COUNT +
	    (namespace_kind(ns) - NAMESPACE_FILTERED_MADE) :
	    namespace_kind(ns) - NAMESPACE_VARIANT);
}

/* The namespace of a variant, by its bit, of the site of ns. */
uint32_t	 variant_namespace(uint32_t ns, unsigned bit);
/* The namespace of the base of a variant: the path of which it is a variant; of
 * a filtered file, that of the file itself. */
static inline uint32_t
variant_base(uint32_t ns)
{
	return namespace_of(ns, namespace_kind(ns) > NAMESPACE_FILTERED ?
	    NAMESPACE_FILTERED : NAMESPACE_TARGET,
	    namespace_kind(ns) == NAMESPACE_TARGET ? 0 : language_number(ns));
}

/* The result of a negotiation (RFC 9110, section 12.5.3). */
enum variant_choice { VARIANT_NOT_ACCEPTABLE, VARIANT_IDENTITY, VARIANT_USE };

#define VARIANT_NAME_MAX	64

/* Clears the first bit of *offered and sets the name of its coding, format or
 * language; false: no bit. */
bool		 variant_next(const struct conf_rules *, uint32_t *offered,
		    char name[VARIANT_NAME_MAX]);
/* Sets the name of a variant by its path, and the coding or format of its
 * namespace; false: no field of variant_add_field() would get it. */
bool		 variant_name(const struct path *, const char *coding,
		    char name[VARIANT_NAME_MAX]);
/* Adds the field, without its end, by which a request gets the variant with
 * that name. */
void		 variant_add_field(struct buf *, const char *name);
/* Negotiates by the value of Accept-Encoding: *which is the bit of offered to
 * use.  Pure. */
enum variant_choice variant_negotiate(struct str accept, uint32_t offered,
		    uint32_t *which);
/* Negotiates for the request's file: the namespace of what the client wants,
 * which may be the file itself; VARIANT_NONE: it accepts none. */
uint32_t	 variant_choose(struct conn *);
#define VARIANT_NONE	UINT32_MAX

/* Adds suffixes of siblings that the job of a path looks for. */
void		 variant_add_suffixes(struct buf *, const struct path *);
/* Variants that a helper may make, by the rules. */
uint16_t	 variant_made(const struct conf_rules *);
/* Variants of a file as filters have made it. */
uint16_t	 variant_of_filtered(const struct conf *,
		    const struct conf_rules *, int64_t size, const char *type);
/* Cuts the suffix of a sibling off a name; false: it has none. */
bool		 variant_cut_suffix(struct str *name);
/* See struct namespace. */
uint16_t	 variant_find(const struct conf *, const struct path *,
		    const struct job *, const char *type);

#endif
