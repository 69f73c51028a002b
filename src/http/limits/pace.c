/*
 * pace: bytes in the bucket of a connection.
 */
#include <sys/param.h>

#include "http/limits/pace.h"

#define PROGRESS_MIN	(64 * 1024)	/* bytes */

size_t
pace_left(struct conn *c)
{
	struct http_loop	*http = c->http;
	int64_t			 left = token_bucket_refill(&c->session->pace,
				    &http->pace, http->clock->ms);

	return (size_t)MIN(CONN_SEND_MAX, left);
}

/* A client must take half of the bytes that its pace allows. */
uint64_t
pace_min_progress(const struct conn *c)
{
	int64_t	half = c->http->pace.rate * c->http->conf->limits.send / 2000;

	if (!pace_is_limited(c) || half >= PROGRESS_MIN)
		return PROGRESS_MIN;
	return (uint64_t)half + 1;
}
