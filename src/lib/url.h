/*
 * url: the parts of an http URL from the command line.  Pure.
 */
#ifndef LIB_URL_H
#define LIB_URL_H

#include <stdint.h>

#include "lib/str.h"

#define URL_PORT	80	/* of a URL without a port */

struct url {
	struct str	authority;	/* host:port as written; or empty */
	struct str	host;		/* [::1] with its brackets */
	int64_t		port;		/* URL_PORT where none is written */
	struct str	target;		/* path and query, may be empty */
};

/*
 * Parses http://host:port/path?query, or /path?query.  The part from # on is
 * left out, as clients never send it.  Returns NULL, or the error as text.
 */
const char	*url_parse(const char *, struct url *);

#endif
