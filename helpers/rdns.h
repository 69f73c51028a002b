/*
 * rdns: addresses in lines of a log become names, for as little waiting as
 * that takes.
 *
 * Threads of their own ask; what they have not heard in time stays an address,
 * and is heard for the lines to come.  Lines stay in their order.
 */
#ifndef HELPERS_RDNS_H
#define HELPERS_RDNS_H

#include <stddef.h>

#include "lib/buf.h"

#define RDNS_NAME_MAX	256		/* bytes of a name, with its end */
#define RDNS_WAIT_MAX	500		/* ms that lines wait at most, and at
					 * most half of all time */

enum rdns_result {
	RDNS_FOUND,
	RDNS_NONE,			/* it has none */
	RDNS_FAILED			/* nobody knows */
};

/* The name of an address; may wait, is called by several threads. */
typedef enum rdns_result rdns_lookup_fn(const char *address,
		    char name[RDNS_NAME_MAX]);

struct rdns;

/* It stays until the process ends, as its threads do. */
struct rdns	*rdns_new(rdns_lookup_fn *);
/* Adds these lines, with names in place of what stands between marks. */
void		 rdns_fill(struct rdns *, const char *, size_t, struct buf *);

/* By the system's resolver.  Whoever owns an address can call it what they
 * like: so a name counts only if the address is one of its own. */
rdns_lookup_fn	 rdns_lookup;

#endif
