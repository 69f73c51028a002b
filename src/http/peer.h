/*
 * peer: what a connection is between its requests; for the steps only.
 */
#ifndef HTTP_PEER_H
#define HTTP_PEER_H

#include <stdint.h>

#include "lib/token_bucket.h"

struct address;
struct conn;
struct http_loop;
struct transport;

/* What outlasts an exchange: one that is idle is this and no more. */
struct session {
	struct http_loop		*http;
	struct conn		*conn;		/* NULL: idle */
	const struct transport	*transport;
	void			*transport_context;
	struct address		*address;	/* NULL: not limited */
	struct token_bucket		 pace;		/* bytes that may go */
	int			 fd;
	uint32_t		 requests;	/* answered */
	uint16_t		 listener;
	uint8_t			 family;	/* AF_INET, AF_INET6, else */
	uint8_t			 addr_text_len;	/* of an IPv4 one's text */
	uint8_t			 addr[20];	/* of the address; behind four
						 * of them their text */
};

#endif
