/*
 * preload: a request of the administrator's, for the sake of what it leaves in
 * the caches.
 *
 * It goes through the machine as any other, all of the body too, but past the
 * guards; what is sent of it goes nowhere.  If a file has variants, these are
 * asked for afterwards on the same connection.
 */
#ifndef HTTP_PRELOAD_H
#define HTTP_PRELOAD_H

#include <stdint.h>

#include "http/machine.h"
#include "lib/buf.h"

struct preload {			/* all zero at first, but for: */
	struct buf	 request;	/* its bytes, which are used up */
	struct buf	 variant_request;		/* the same, but for its last line */
	void		(*on_done)(struct preload *);	/* may free it */
	void		*context;

	int		 status;	/* 0: it ended before there was one */
	const char	*reason;
	int64_t		 bytes;		/* of the body */
	bool		 truncated;		/* ... which is not all of it */
	struct buf	 codings;	/* that came as well */
};

/* Its context is a struct preload. */
extern const struct transport	preload_transport;

#endif
