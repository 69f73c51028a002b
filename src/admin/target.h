/*
 * target: where a URL that somebody has typed leads, by the conf: the listener,
 * the site, the request that asks for it.
 */
#ifndef ADMIN_TARGET_H
#define ADMIN_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "conf/conf.h"
#include "lib/buf.h"
#include "lib/url.h"

/* The listener that the URL reaches; a path alone is asked for at the first
 * address of the first site.  False: what is wrong is added. */
bool	target_listener(const struct conf *, const struct url *,
	    size_t *listener, struct buf *wrong);
/* What stands in the request as Host, if that is not said otherwise. */
void	target_host(const struct conf *, const struct url *, struct buf *);
/* Who answers there. */
const struct conf_site *target_site(const struct conf *, const struct url *,
	    size_t listener);
/* The request, with further fields as they are; its Host is given. */
void	target_request(const struct url *, const char *host,
	    char *const *fields, size_t n, struct buf *);

#endif
