/*
 * addresses_conf: what the mains of a generation remember of their clients'
 * addresses, made by the monitor.  What is in it comes from mains, and is
 * nothing but numbers to the monitor.
 */
#ifndef SHARED_ADDRESSES_CONF_H
#define SHARED_ADDRESSES_CONF_H

#include <stddef.h>

struct addresses;
struct conf;

/* For so many mains, each with so many descriptors; NULL: there is nothing to
 * remember. */
struct addresses *addresses_conf_new(const struct conf *, unsigned mains,
		    size_t descriptors);
void		 addresses_conf_free(struct addresses **);
/* That main has gone, and all its clients with it. */
void		 addresses_conf_main_died(struct addresses *, unsigned main);

#endif
