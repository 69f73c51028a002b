/*
 * target: where a URL that an administrator has typed leads by the conf: the
 * listener, the site, and the request for it.
 */
#ifndef ADMIN_TARGET_H
#define ADMIN_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "conf/conf.h"
#include "lib/buf.h"
#include "lib/url.h"

/* Finds the listener that the URL reaches; for a path alone that is the first
 * address of the first site.  False: adds an error text. */
bool	target_listener(const struct conf *, const struct url *,
	    size_t *listener, struct buf *error);
/* Adds the value of the Host field for the URL. */
void	target_host(const struct conf *, const struct url *, struct buf *);
/* The site that answers the URL at that listener. */
const struct conf_site *target_site(const struct conf *, const struct url *,
	    size_t listener);
/* Adds a URL that leads to a target in the site of that number, by a host if
 * one is given; false: there is none. */
bool	target_add_url(const struct conf *, size_t site, struct str host,
	    struct str target, struct buf *);
/* The name and the password of a field that is written as user=NAME:PASSWORD;
 * NULL: it is another field. */
const char *target_user(const char *field);
/* Adds a request for the URL with these fields; host is the Host field's value
 * unless the fields have one. */
void	target_request(const struct url *, const char *host,
	    char *const *fields, size_t n, struct buf *);

#endif
