/*
 * pace: bytes in the bucket of a connection.
 */
#include <sys/param.h>

#include "http/limits/pace.h"
#include "http/limits/timeouts.h"
#include "http/rules.h"

#define PROGRESS_MIN	(64 * 1024)	/* bytes */

/* The pace of the rules of the target; NULL: no limit. */
static const struct token_bucket_size *
get_size(const struct conn *c)
{
	const struct conf_rules	*rules = c->request != NULL ?
				    rules_of(c->request) : NULL;
	const struct token_bucket_size *size = rules != NULL ? &rules->pace :
				    &c->http->pace;

	return size->rate != 0 ? size : NULL;
}

bool
pace_applies(const struct conn *c)
{
	return !session_is_trusted(c->session) && get_size(c) != NULL;
}

/* A bucket that holds more than this pace allows is emptied down to that. */
size_t
pace_left(struct conn *c)
{
	struct http_loop	*http = c->http;
	int64_t			 left = token_bucket_refill(&c->session->pace,
				    get_size(c), http->clock->ms);

	return (size_t)MIN(CONN_SEND_MAX, left);
}

/* A client must take half of the bytes that its pace allows. */
uint64_t
pace_min_progress(const struct conn *c)
{
	int64_t	half;

	if (!pace_is_limited(c))
		return PROGRESS_MIN;
	half = get_size(c)->rate * timeouts_send(c).ms / 2000;
	if (half >= PROGRESS_MIN)
		return PROGRESS_MIN;
	return (uint64_t)half + 1;
}
