/*
 * variant: a file in another content coding: which variants a file has, and
 * which one a request gets.
 *
 * A variant is a path of its own in the pathname cache, with the name of the
 * file in another namespace.  So it has its own lookups, version, entity tag
 * and heads, and its ranges and conditions are about the bytes that are sent.
 * path->variants of the file has a bit for each variant.  A request that gets
 * a variant costs one more look-up in the cache; other requests cost nothing.
 */
#ifndef HTTP_VARIANT_H
#define HTTP_VARIANT_H

#include <stdbool.h>
#include <stdint.h>

#include "http/conn.h"

#define VARIANT_VARY	"Vary: Accept-Encoding\r\n"

/* The result of a negotiation (RFC 9110, section 12.5.3). */
enum variant_choice { VARIANT_NOT_ACCEPTABLE, VARIANT_IDENTITY, VARIANT_USE };

/* Whether a namespace is one of variants. */
bool		 variant_is_namespace(uint32_t ns);
/* Whether it is the one of variants that a helper makes. */
bool		 variant_is_made(uint32_t ns);
/* The content coding of a namespace of variants. */
const char	*variant_coding(uint32_t ns);
/* Clears the first bit of *offered and returns its coding; NULL: no bit. */
const char	*variant_next_coding(uint32_t *offered);
/* Negotiates by the value of Accept-Encoding: *which is the bit of offered to
 * use.  Pure. */
enum variant_choice variant_choose(struct str accept, uint32_t offered,
		    uint32_t *which);
/* Negotiates for the request's file: *ns is the namespace to use. */
enum variant_choice variant_negotiate(struct conn *, uint32_t *ns);

/* Whether the request's path is a variant or has variants. */
bool		 variant_has_siblings(const struct request *);
/* Adds suffixes of siblings that the job of a path looks for. */
void		 variant_add_suffixes(struct buf *, const struct path *);
/* Variants of a file, by the bits of siblings that a job has found. */
uint16_t	 variant_from_siblings(const struct path *, uint64_t siblings);
/* The bit of the variant that a helper makes. */
uint16_t	 variant_made_bit(void);
/* The same if a file of that size and type is worth it, else 0. */
uint16_t	 variant_to_make(const struct http_loop *, const struct path *,
		    int64_t size, const char *type);
/* The namespace of a variant, of the site of ns. */
uint32_t	 variant_namespace(uint32_t ns, unsigned variant);
/* Takes a variant that cannot be had out of its file's path->variants. */
void		 variant_withdraw(struct http_loop *, const struct path *);

/* Adds Vary, for all responses, or Content-Encoding, for those with a body. */
void		 variant_add_vary(struct buf *, const struct request *);
void		 variant_add_coding(struct buf *, const struct request *);

#endif
