/*
 * peer: who is at the other end of a connection, and for whom it asks.
 *
 * A proxy is a peer that the conf trusts.  It may name the client of each of
 * its requests; from then on the session has the client's address in place of
 * the proxy's, and all that depends on an address is about the client.
 */
#ifndef HTTP_PEER_H
#define HTTP_PEER_H

#include "http/conn.h"
#include "proto/proxy_header.h"
#include "proto/why.h"

/* Sets the address of a new session, and counts its connection, unless a header
 * is to name its client. */
void	 peer_begin(struct session *, const struct sockaddr *from);
/* Sets the address by a header of the PROXY protocol, and counts the
 * connection. */
void	 peer_take_header(struct session *, const struct proxy_header *);
/* Ends a connection without a right header, with a line in the log; why NULL:
 * the fault's clause. */
COLD enum go peer_refuse_header(struct conn *, enum peer_fault,
	    const char *why);
void	 peer_end(struct session *);
/* Sets the session's address to that of the request's client, and counts the
 * request; returns why it is refused, or WHY_NONE.  Only for a session with
 * `address` or `proxy`. */
enum why	 peer_request(struct conn *);
/* Sets the session's address to the peer's own: the client of a request whose
 * head is incomplete is unknown. */
void	 peer_restore(struct session *);
/* Scheme and host by which the client has asked its proxy; false: no proxy has
 * said so. */
bool	 peer_get_origin(const struct conn *, struct str *scheme,
	    struct str *host);

#endif
