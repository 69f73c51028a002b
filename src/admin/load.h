/*
 * load: a request that main makes to itself, so that a file comes into the
 * caches as it would by a client's request.
 */
#ifndef ADMIN_LOAD_H
#define ADMIN_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/conf.h"
#include "http/preload.h"
#include "lib/str.h"
#include "lib/url.h"
#include "loop/clients.h"

struct load {
	const struct conf	*conf;
	struct clients		*clients;
	int			 fd;		/* the caller's; always ready,
						 * as a pipe at its end is */
	bool			 all_variants;	/* of the file, too */
	bool			 no_programs;
	const char		*coding;	/* of a variant; NULL: none */
	uint64_t		 most;		/* bytes of the response; 0:
						 * all */
	/* Called at the end, while the connection is being closed, so it must
	 * not begin another request. */
	void			(*ended)(void *, struct preload *);
	void			*context;
};

/* Begins a request, which may have ended when this returns. */
void	load_begin(const struct load *, const struct url *, size_t listener);
/* Begins the request of the next hint; false: there is none now. */
bool	load_begin_hint(const struct load *, struct http_loop *);

#endif
