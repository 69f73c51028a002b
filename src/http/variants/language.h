/*
 * language: the same in other languages, in files beside a file, as a.de.html
 * or a.html.de beside a.html: which languages a file has, and which one a
 * request gets (RFC 9110, section 12.5.4).
 *
 * A file in a language is a variant with variants of its own: the form of its
 * namespace is the language's number in the conf, from 1.  So there are as many
 * paths of a name as languages, whatever clients send.
 */
#ifndef HTTP_VARIANTS_LANGUAGE_H
#define HTTP_VARIANTS_LANGUAGE_H

#include <stddef.h>
#include <stdint.h>

#include "http/namespace.h"
#include "lib/buf.h"
#include "lib/str.h"

struct conf_rules;
struct path;

/* The number of a language; 0: the namespace is of files without a tag. */
static inline unsigned
language_number(uint32_t ns)
{
	return namespace_kind(ns) != NAMESPACE_LISTING ? namespace_form(ns) : 0;
}

/* How many languages lookups by these rules look for. */
size_t		 language_count(const struct conf_rules *);
/* The tag of a language, by its number from 1. */
const char	*language_tag(const struct conf_rules *, unsigned number);
/* The language of a path's file; NULL: it is not known. */
const char	*language_of(const struct path *);
/* Negotiates by the value of Accept-Language, among the languages whose bits
 * are in offered, the first for number 1.  Returns the number of the one to
 * send; 0: the file itself.  Pure. */
unsigned	 language_negotiate(struct str accept,
		    const struct conf_rules *, uint32_t offered);
/* Adds names that a path of a language may have in its directory, as
 * terminated texts, for a path that is decoded. */
void		 language_add_names(struct buf *, const struct path *,
		    const char *decoded);
/* Cuts the terminated path of a job down to its directory, if the path is of a
 * language: the names of files are in there. */
void		 language_cut_path(const struct path *, char *path);
/* Cuts the language out of the name of a path's file. */
void		 language_cut(const struct path *, struct buf *name);

#endif
