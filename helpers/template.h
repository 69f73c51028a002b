/*
 * template: text with fields, which are filled in for an entry of a directory.
 *
 * A field is %{NAME:ESCAPE}, or %{NAME} for one that needs no escape; %%
 * stands for a %.  Pure.
 */
#ifndef HELPERS_TEMPLATE_H
#define HELPERS_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/buf.h"

#define TEMPLATE_FIELDS(X)						\
	X(title)		/* of the list, from the job */		\
	X(name)								\
	X(size)			/* bytes, in digits */			\
	X(human)		/* size with a unit: 1.4 MiB */		\
	X(time)			/* mtime, RFC 3339: 2026-11-21T08:30:00Z */ \
	X(date)			/* mtime for people: 2026-11-21 08:30 */

/*
 * percent: all but unreserved characters (RFC 3986, section 2.3) as %XX.
 * xml: safe as character data and in attributes.  json: safe in a string.
 * xml and json replace bytes that are not UTF-8 by U+FFFD; xml also replaces
 * control characters, which it cannot express.
 */
#define TEMPLATE_ESCAPES(X)						\
	X(none) X(percent) X(xml) X(json)

struct template_values {
	const char	*title, *name;
	int64_t		 size, time;	/* bytes, seconds since 1970 */
};

/* Appends the text, filled in; false: the text has an unknown field. */
bool	template_fill(const char *text, const struct template_values *,
	    struct buf *);

#endif
