/*
 * variant: a file in another content coding: which there are, and which one a
 * request gets.
 *
 * Like a page of a directory, a variant is a path of its own in the pathname
 * cache, under the target of the file but in another space.  So it has its own
 * looks, version, tag and heads, and its ranges and conditions are about what
 * is sent.  What there is stands in path->variants of the file: who takes a
 * variant pays for one more look-up, and nobody else for anything.
 */
#ifndef HTTP_VARIANT_H
#define HTTP_VARIANT_H

#include <stdbool.h>
#include <stdint.h>

#include "http/conn.h"

#define VARIANT_VARY	"Vary: Accept-Encoding\r\n"

/* What to do about a request for a file with variants. */
enum variant_choice { VARIANT_NOT_ACCEPTABLE, VARIANT_IDENTITY, VARIANT_USE };

/* Whether a space is of variants; of those that a helper makes. */
bool		 variant_is_namespace(uint32_t ns);
bool		 variant_is_made(uint32_t ns);
/* The coding of those in such a space. */
const char	*variant_coding(uint32_t ns);
/* The coding of the first of what is offered, which is cleared; NULL at the
 * end. */
const char	*variant_next_coding(uint32_t *offered);
/* By the value of Accept-Encoding alone: of what is offered, a bit for each
 * kind, which one to take.  Pure. */
enum variant_choice variant_choose(struct str accept, uint32_t offered,
		    uint32_t *which);
/* The same for the file that a request holds: the space of what to take. */
enum variant_choice variant_negotiate(struct conn *, uint32_t *ns);

/* Whether a request's path is one of several of a file. */
bool		 variant_has_siblings(const struct request *);
/* Adds the suffixes to look for, for the job about a path. */
void		 variant_add_suffixes(struct buf *, const struct path *);
/* A look at a file has found it, with the bits of those beside it: which
 * variants that are. */
uint16_t	 variant_from_siblings(const struct path *, uint64_t beside);
/* The variant that is made of a file, and the same if it is worth an attempt
 * with one of that size and type, else none. */
uint16_t	 variant_made_bit(void);
uint16_t	 variant_to_make(const struct http_loop *, const struct path *,
		    int64_t size, const char *type);
/* Where that variant of what is in this space is. */
uint32_t	 variant_namespace(uint32_t ns, unsigned variant);
/* A variant is not to be had: its file offers it no longer. */
void		 variant_withdraw(struct http_loop *, const struct path *);

/* Fields about coding: for all responses, 304 too; for those with a body. */
void		 variant_add_vary(struct buf *, const struct request *);
void		 variant_add_coding(struct buf *, const struct request *);

#endif
