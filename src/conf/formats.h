/*
 * formats: formats of pictures that may stand beside a picture, in the order of
 * preference among equal weights.
 */
#ifndef CONF_FORMATS_H
#define CONF_FORMATS_H

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

#endif
