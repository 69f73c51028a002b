/*
 * addresses_conf: makes the table of client addresses (addresses.h) that the
 * mains of a generation share, by the conf's limits.  The content comes from
 * mains, so to the monitor it is plain numbers.
 */
#ifndef SHARED_ADDRESSES_CONF_H
#define SHARED_ADDRESSES_CONF_H

#include "shared/addresses.h"

struct conf;

/* Makes the table for so many mains, each with so many descriptors, to be freed
 * by addresses_free(); NULL if the conf sets no limits for an address. */
struct addresses *addresses_conf_new(const struct conf *, unsigned mains,
		    size_t descriptors);
/* Makes a table for each rate of sites and paths; NULL if there is none. */
struct addresses **addresses_conf_limiters(const struct conf *,
		    unsigned mains);
void		 addresses_conf_free(const struct conf *, struct addresses ***);
/* A main has died: removes its connections.  NULL does nothing. */
void		 addresses_conf_main_died(struct addresses *, unsigned main);

#endif
