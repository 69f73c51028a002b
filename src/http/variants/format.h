/*
 * format: other formats of a picture, in files beside it, as a.png.avif beside
 * a.png: which formats a picture has, and which one a request gets (RFC 9110,
 * section 12.5.1).
 *
 * Like another coding, another format is a variant of the file.
 */
#ifndef HTTP_VARIANTS_FORMAT_H
#define HTTP_VARIANTS_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "conf/variants.h"
#include "lib/str.h"

struct conf_rules;

/* The media type of a namespace of that kind, or NULL. */
const char	*format_type(uint32_t ns);
const char	*format_suffix(enum format);
const char	*format_name(enum format);
/* The media type of the format with that name; NULL: there is none. */
const char	*format_find_type(const char *name);
/* Whether lookups by these rules look for a picture in that format. */
bool		 format_is_wanted(const struct conf_rules *, enum format);
/* Whether files of that media type have variants in other formats. */
bool		 format_has_type(const char *type);
/* Negotiates by the value of Accept, among the formats whose bits are in
 * offered.  Returns the bit of the format to send in place of a picture of that
 * type; 0: the picture itself.  Pure. */
uint32_t	 format_negotiate(struct str accept, const char *type,
		    uint32_t offered);

#endif
