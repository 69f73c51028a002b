/*
 * rdns: replaces addresses in lines of a log by host names.
 *
 * Threads look the names up.  An address whose name is not known in time stays;
 * the name is cached for later lines.  Lines keep their order.
 */
#ifndef HELPERS_RDNS_H
#define HELPERS_RDNS_H

#include <stddef.h>

#include "lib/buf.h"

#define RDNS_NAME_MAX	256		/* bytes of a name, with its end */
#define RDNS_WAIT_MAX	500		/* ms that lines wait at most; over
					 * time, half of the time at most */

enum rdns_result {
	RDNS_FOUND,
	RDNS_NONE,			/* the address has no name */
	RDNS_FAILED			/* no name server has answered */
};

/* Finds the name of an address.  May block; several threads call it. */
typedef enum rdns_result rdns_lookup_fn(const char *address,
		    char name[RDNS_NAME_MAX]);

struct rdns;

/* Lives until the process ends, as its threads do. */
struct rdns	*rdns_new(rdns_lookup_fn *);
/* Appends these lines, with names in place of the addresses between marks.
 * Blocks for RDNS_WAIT_MAX at most. */
void		 rdns_fill(struct rdns *, const char *, size_t, struct buf *);

/* Asks the system's resolver.  The owner of an address can give it any name, so
 * a name counts only if it resolves to that address. */
rdns_lookup_fn	 rdns_lookup;

#endif
