/*
 * leases: connections of processes of pools that a loop has and does not use.
 *
 * A lease is a connection, and the socket of the request that got it from the
 * program manager.  Main keeps a lease after an answer; its next request for
 * the program takes the lease and asks no manager.  A lease ends when the
 * manager recalls it, when the process says something or has gone, and after
 * LEASES_MS.
 *
 * No function blocks.
 */
#ifndef LOOP_LEASES_H
#define LOOP_LEASES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/clock.h"
#include "loop/evloop.h"

#define LEASES_MS	1000	/* without a request, and half of that more */

/* Used, without left, also for a program that is no process of a pool. */
struct lease {
	int		 request;	/* to the manager, for its reports */
	int		 connection;	/* or the pipe of output; -1: none */
	struct watch	*reports, *readable;
	uint32_t	 left;		/* requests that it may have, with the
					 * one that uses it */
	uint32_t	 nanswered;	/* requests */
	uint32_t	 slot;		/* stats/program_stats.h */
};

struct leases;				/* of one loop */

/* count: of leases that are kept; others may count there, too. */
struct leases	*leases_new(struct evloop *, const struct clock *,
		    _Atomic size_t *count);
/* Gives all leases back. */
void		 leases_free(struct leases **);
/* Keeps a lease for a program, by its number, and takes over what it has; both
 * watches are set to READ. */
void		 leases_keep(struct leases *, size_t program, struct lease *);
/* Takes the lease that was kept last; its watches call the old callbacks until
 * they are redirected.  False: there is none.  The process may have closed the
 * connection, which the loop has not seen yet. */
bool		 leases_take(struct leases *, size_t program, struct lease *);
/* Gives a lease that was taken back, as nothing can be sent over it. */
void		 leases_give_back(struct lease *);
/* Gives one lease back, if there is any. */
bool		 leases_drop(struct leases *);

#endif
