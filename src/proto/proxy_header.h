/*
 * proxy_header: the header with which a proxy begins a connection, to name its
 * client (the PROXY protocol of HAProxy, versions 1 and 2).  Pure.
 *
 * No request begins like a header, so a connection without a header cannot be
 * mistaken for a connection with one.
 */
#ifndef PROTO_PROXY_HEADER_H
#define PROTO_PROXY_HEADER_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a header with all that follows the addresses. */
#define PROXY_HEADER_MAX	4096

struct proxy_header {
	size_t		 size;		/* DONE: bytes of the header */
	uint8_t		 family;	/* AF_INET, AF_INET6, AF_UNIX; 0: the
					 * proxy itself is the client */
	uint8_t		 addr[16];
	const char	*why;		/* WRONG: a phrase */
};

enum proxy_header_result {
	PROXY_HEADER_MORE,		/* right so far, not complete */
	PROXY_HEADER_DONE,
	PROXY_HEADER_WRONG
};

/* Reads the header at the start of these bytes. */
enum proxy_header_result proxy_header_read(const char *at, size_t len,
		    struct proxy_header *);

#endif
