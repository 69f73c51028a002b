/*
 * url: the parts of an http URL that somebody has typed.  Pure.
 */
#ifndef LIB_URL_H
#define LIB_URL_H

#include <stdint.h>

#include "lib/str.h"

#define URL_PORT	80	/* if it is not said */

struct url {
	struct str	authority;	/* host:port as written; or empty */
	struct str	host;		/* [::1] with its brackets */
	int64_t		port;		/* URL_PORT if it is not said */
	struct str	target;		/* path and query, may be empty */
};

/*
 * http://host:port/path?query, or from the path on.  What is behind # is left
 * out, as it is never sent.  Returns NULL, or what is wrong with it.
 */
const char	*url_parse(const char *, struct url *);

#endif
