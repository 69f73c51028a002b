/*
 * sockaddr: the parts of a socket's address, IPv4 or IPv6.
 */
#ifndef LIB_SOCKADDR_H
#define LIB_SOCKADDR_H

#include <netinet/in.h>

#include "lib/str.h"

/* The 4 or 16 bytes of the host; none for another family.  The address is a
 * struct sockaddr of any kind. */
static inline struct str
sockaddr_bytes(const void *address)
{
	const struct sockaddr_in	*v4 = address;
	const struct sockaddr_in6	*v6 = address;

	return v4->sin_family == AF_INET ?
	    (struct str){ (const char *)&v4->sin_addr, 4 } :
	    v4->sin_family == AF_INET6 ?
	    (struct str){ (const char *)&v6->sin6_addr, 16 } :
	    (struct str){ NULL, 0 };
}

static inline bool
sockaddr_is_any(const void *address)
{
	static const char	any[16];
	struct str		bytes = sockaddr_bytes(address);

	return bytes.len > 0 && str_same(bytes, (struct str){ any, bytes.len });
}

/* The port of an IPv4 or IPv6 address, which is at the same place in both; 0
 * for another family. */
static inline in_port_t
sockaddr_port(const void *address)
{
	const struct sockaddr_in	*v4 = address;

	return v4->sin_family == AF_INET || v4->sin_family == AF_INET6 ?
	    ntohs(v4->sin_port) : 0;
}

#endif
