/*
 * pace: how many bytes a connection may be sent, if that is limited.
 *
 * Nothing else may ask the conf for the pace, or touch a connection's bucket:
 * what takes from it must be what it has been asked for.
 */
#ifndef HTTP_LIMITS_PACE_H
#define HTTP_LIMITS_PACE_H

#include "http/conn.h"

size_t	pace_left(struct conn *);	/* of one that is limited */

/* Bytes that a client must take within limits.send: with less, it holds on to
 * the server. */
uint64_t	pace_min_progress(const struct conn *);

static inline bool
pace_is_limited(const struct conn *c)
{
	return c->http->pace.rate != 0 && !c->transport->trusted;
}

/* Bytes that may go in this turn; 0: time must pass first. */
static inline size_t
pace_allowance(struct conn *c)
{
	return pace_is_limited(c) ? pace_left(c) : CONN_SEND_MAX;
}

/* Of those, so many have gone. */
static inline void
pace_take(struct conn *c, size_t n)
{
	if (pace_is_limited(c))
		token_bucket_take(&c->session->pace, (int64_t)n);
}

#endif
