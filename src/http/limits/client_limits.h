/*
 * client_limits: what is left of an address's share of the server.
 */
#ifndef HTTP_LIMITS_CLIENT_LIMITS_H
#define HTTP_LIMITS_CLIENT_LIMITS_H

#include "http/conn.h"

/* Counts a new connection; one too many is turned_away. */
void	client_limits_connect(struct conn *);
/* Whether its address may make one more request. */
bool	client_limits_request(struct conn *);
/* Seconds after which there may be some left. */
int	client_limits_retry_after(const struct conn *);

#endif
