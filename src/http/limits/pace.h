/*
 * pace: how many bytes a connection may be sent in a time, if limited.
 *
 * No other file asks the conf for the pace or touches the bucket of a
 * connection, so that bytes are taken from the bucket that was asked.
 */
#ifndef HTTP_LIMITS_PACE_H
#define HTTP_LIMITS_PACE_H

#include "http/conn.h"

/* Bytes in the bucket of a connection that is limited. */
size_t	pace_left(struct conn *);

/* Bytes that a client must take within timeouts_send(), else the connection is
 * closed. */
uint64_t	pace_min_progress(const struct conn *);

/* Whether the rules of the target have a pace, when some have one. */
bool	pace_applies(const struct conn *);

static inline bool
pace_is_limited(const struct conn *c)
{
	return c->http->shaped && pace_applies(c);
}

/* Bytes that may be sent in this iteration; 0: time must pass first. */
static inline size_t
pace_allowance(struct conn *c)
{
	return pace_is_limited(c) ? pace_left(c) : CONN_SEND_MAX;
}

/* Takes bytes that were sent out of the bucket. */
static inline void
pace_take(struct conn *c, size_t n)
{
	if (pace_is_limited(c))
		token_bucket_take(&c->session->pace, (int64_t)n);
}

#endif
