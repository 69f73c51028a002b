/*
 * forwarded: what proxies say about the client of a request (RFC 7239, and the
 * fields X-Forwarded-*).
 *
 * Each proxy adds the hop before it at the end of a list.  The proxy of the hop
 * behind an element has written the element, so the list is believed from its
 * end up to the first hop that is not trusted: that hop is the client.  Pure.
 */
#ifndef PROTO_FORWARDED_H
#define PROTO_FORWARDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/str.h"

/* Elements of all lists of a request. */
#define FORWARDED_HOPS_MAX	64

struct forwarded_hop {
	uint8_t		 family;	/* AF_INET, AF_INET6, AF_UNIX; 0: the
					 * proxy does not say, or not clearly */
	uint8_t		 addr[16];
};

/* The lines of one request that were read so far.  The caller sets the first
 * two members, and the rest to zero. */
struct forwarded {
	bool			(*trusts)(const void *,
				    const struct forwarded_hop *);
	const void		*context;	/* of trusts() */
	struct forwarded_hop	 client;	/* if behind is not 0 */
	size_t			 behind;	/* elements from the client's to
						 * the end; 0: none */
	size_t			 n;		/* elements in all */
	/* Of the client's request, by Forwarded; at NULL: unknown. */
	struct str		 scheme, host;
};

/* Reads a line of Forwarded; false: it is not valid, or there are too many
 * elements. */
bool		 forwarded_add(struct forwarded *, struct str line);
/* Reads a line of X-Forwarded-For; false: there are too many elements. */
bool		 forwarded_add_for(struct forwarded *, struct str line);
/* Cuts the next element of a line of X-Forwarded-* off its front; false: there
 * are no more. */
bool		 forwarded_next(struct str *line, struct str *element);
/* A value as a scheme, "http" or "https", or as a host with or without a port;
 * at NULL: it is none. */
struct str	 forwarded_scheme(struct str);
struct str	 forwarded_host(struct str);

#endif
