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

/* Splits host:port or [host]:port, where a bracket begins a host of IPv6; its
 * size includes the terminator.  Returns NULL, or the error as text. */
const char	*conf_address_split(const char *, char *host, size_t size,
		    int64_t *port);
/* Makes an address of numbers; false: the host is no address. */
bool		 conf_address_parse(const char *host, bool ipv6, in_port_t port,
		    struct sockaddr_storage *, socklen_t *len);

#endif
