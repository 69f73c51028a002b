/*
 * managers: the program managers, as the loops of main share them.
 *
 * Any thread may call these functions; none blocks.
 */
#ifndef LOOP_MANAGERS_H
#define LOOP_MANAGERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "backend.h"
#include "loop/held.h"

struct managers {
	size_t		 most;		/* of count */
	_Atomic size_t	 count;		/* of backends and kept leases */
	struct held_total held;
	/* Private from here on. */
	int		*at;		/* sockets to them, by number */
	size_t		 n;
	uint32_t	 first_id;	/* of the requests; the process's own */
	_Atomic uint32_t nasked;	/* backends, ever */
	_Atomic uint32_t ngroups;
};

/* Takes over the n sockets, of which some may be -1.  The caller sets
 * held.most. */
struct managers	*managers_new(const int *sockets, size_t n, size_t most);
/* No backend and no kept lease is left. */
void		 managers_free(struct managers **);
/* Sends to the manager what it needs; returns the socket for its reports, or -1
 * with errno. */
int		 managers_ask(struct managers *, const struct backend_start *,
		    uint64_t group);
/* The id of the next request over a connection; see backend_protocol_open(). */
uint16_t	 managers_make_id(struct managers *);
/* A new group, other than those of other mains: they may share a manager. */
uint64_t	 managers_make_group(struct managers *);

#endif
