/*
 * client_limits: limits of one address: connections, and requests a second.
 */
#ifndef HTTP_LIMITS_CLIENT_LIMITS_H
#define HTTP_LIMITS_CLIENT_LIMITS_H

#include "http/conn.h"

/* Counts a new connection; sets its `opening` if it is one too many. */
void	client_limits_connect(struct session *);
/* Counts a request; false: the address is over its rate. */
bool	client_limits_request(struct conn *);
/* The same, of a client whose connection is its proxy's. */
bool	client_limits_request_of_client(struct conn *);
/* Counts a request for a target by the rate of its rules; false: the address is
 * over it. */
bool	client_limits_request_here(struct conn *, const struct conf_rules *);
/* Seconds for the field Retry-After. */
int	client_limits_retry_after(const struct conn *);

#endif
