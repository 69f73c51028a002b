/*
 * address: addresses to listen on.
 */
#ifndef CONF_ADDRESS_H
#define CONF_ADDRESS_H

#include <sys/socket.h>

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conf_address {
	struct sockaddr_storage	 addr;
	socklen_t		 len;
	char			*text;	/* as written in the conf */
	bool			 proxy;	/* connections begin with a header of
					 * the PROXY protocol */
	int64_t			 mode;	/* AF_UNIX, as the next */
	char			*owner, *group;	/* NULL: as started */
};

struct conf_addresses {
	struct conf_address	*at;
	size_t			 n;
};

#endif
