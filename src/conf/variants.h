/*
 * variants: what may stand beside a file: a picture in other formats, in the
 * order of preference among equal weights; and the same in other languages, as
 * a.de.html or a.html.de beside a.html.
 */
#ifndef CONF_VARIANTS_H
#define CONF_VARIANTS_H

#include "conf/guard.h"

/* All formats: id, name in the conf, suffix of a file beside another, media
 * type. */
#define FORMATS(X)							\
	X(AVIF,	"avif",	".avif", "image/avif")				\
	X(JXL,	"jxl",	".jxl",	"image/jxl")				\
	X(WEBP,	"webp",	".webp", "image/webp")

enum format {
#define X(id, name, suffix, type) FORMAT_##id,
	FORMATS(X)
#undef X
	FORMAT_COUNT
};

/* The words of the directive. */
#define CONF_FORMATS(X)	X(OFF, "off") FORMATS(X)

#define CONF_LANGUAGES_MAX	5	/* a path has so many bits for them */
/* Bytes of a tag (RFC 5646, section 4.4.1), for which jobs have room. */
#define CONF_LANGUAGE_MAX	35

struct conf_languages {
	struct conf_words	 names;		/* "off", or language tags */
	char			*plain;		/* of files without a tag in
						 * their name; NULL: unknown */
};

#endif
