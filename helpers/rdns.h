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

#define NAMES_LONGEST	256		/* bytes of a name, with its end */
#define NAMES_WAIT	500		/* ms that lines wait at most, and at
					 * most half of all time */

enum names_answer {
	NAMES_FOUND,
	NAMES_NONE,			/* it has none */
	NAMES_FAILED			/* nobody knows */
};

/* The name of an address; may wait, is called by several threads. */
typedef enum names_answer names_look_fn(const char *address,
		    char name[NAMES_LONGEST]);

struct names;

/* It stays until the process ends, as its threads do. */
struct names	*names_new(names_look_fn *);
/* Adds these lines, with names in place of what stands between marks. */
void		 names_fill(struct names *, const char *, size_t, struct buf *);

/* By the system's resolver.  Whoever owns an address can call it what they
 * like: so a name counts only if the address is one of its own. */
names_look_fn	 names_look;

#endif
