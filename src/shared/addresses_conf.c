/*
 * addresses_conf: takes the limits from the conf.
 */
#include "conf/conf.h"
#include "lib/mem.h"
#include "shared/addresses_conf.h"

/* Connections, if the conf sets no limit: the limit of descriptors can be a
 * million, and a table that is hardly used takes a page for each address. */
#define CONNECTIONS_DEFAULT	65536

/* Returns how many connections there can be, each from another address. */
static size_t
max_connections(const struct conf *conf, unsigned mains, size_t descriptors)
{
	size_t	wanted = (size_t)conf->limits.connections;
	size_t	max = descriptors * mains;

	if (wanted == 0)
		wanted = CONNECTIONS_DEFAULT;
	return wanted < max ? wanted : max;
}

struct addresses *
addresses_conf_new(const struct conf *conf, unsigned mains, size_t descriptors)
{
	const struct address_limits	limits = {
		.connections = conf->limits.connections_address,
		.requests = { conf->limits.rate, conf->limits.rate_burst },
		.max = (size_t)conf->limits.addresses +
		    max_connections(conf, mains, descriptors),
	};

	return limits.connections != 0 || limits.requests.rate != 0 ?
	    addresses_new(&limits, mains) : NULL;
}

struct addresses **
addresses_conf_limiters(const struct conf *conf, unsigned mains)
{
	struct addresses	**all = conf->nlimiters > 0 ?
				    mem_array(conf->nlimiters, sizeof(*all)) :
				    NULL;

	for (size_t i = 0; i < conf->nlimiters; i++)
		all[i] = addresses_new(&(struct address_limits){
		    .requests = conf->limiters[i],
		    .max = (size_t)conf->limits.addresses }, mains);
	return all;
}

void
addresses_conf_free(const struct conf *conf, struct addresses ***allp)
{
	for (size_t i = 0; *allp != NULL && i < conf->nlimiters; i++)
		addresses_free(&(*allp)[i]);
	mem_drop(allp);
}

void
addresses_conf_main_died(struct addresses *as, unsigned main)
{
	if (as != NULL)
		addresses_clear_slot(as, main);
}
