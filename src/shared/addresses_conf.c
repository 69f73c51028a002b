/*
 * addresses_conf: the limits of the conf as shared/addresses knows them.
 */
#include "conf/conf.h"
#include "shared/addresses.h"
#include "shared/addresses_conf.h"

/* Where the conf does not say: descriptors there may be a million of, and what
 * is hardly used takes a page for each address. */
#define CONNECTIONS	65536

/* Whoever has a connection is to be counted: so many can be there at once, each
 * from another address. */
static size_t
connections(const struct conf *conf, unsigned mains, size_t descriptors)
{
	size_t	wanted = (size_t)conf->limits.connections;
	size_t	most = descriptors * mains;

	if (wanted == 0)
		wanted = CONNECTIONS;
	return wanted < most ? wanted : most;
}

struct addresses *
crowd_new(const struct conf *conf, unsigned mains, size_t descriptors)
{
	const struct address_limits	limits = {
		.connections = conf->limits.connections_address,
		.requests = { conf->limits.rate, conf->limits.rate_burst },
		.most = (size_t)conf->limits.addresses +
		    connections(conf, mains, descriptors),
	};

	return limits.connections != 0 || limits.requests.rate != 0 ?
	    address_new(&limits, mains) : NULL;
}

void
crowd_free(struct addresses **as)
{
	address_free(as);
}

void
crowd_left(struct addresses *as, unsigned main)
{
	if (as != NULL)
		address_clear(as, main);
}
