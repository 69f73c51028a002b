/*
 * crowd: the limits of the conf as cache/address knows them.
 */
#include "arch/crowd.h"
#include "cache/address.h"
#include "conf.h"

struct addresses *
crowd_new(const struct conf *conf, unsigned mains)
{
	const struct address_limits	limits = {
		.connections = conf->limits.connections_address,
		.requests = { conf->limits.rate, conf->limits.rate_burst },
		.most = (size_t)conf->limits.addresses,
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
