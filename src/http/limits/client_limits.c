/*
 * client_limits: counts connections and requests of addresses, and logs who
 * exceeds a limit: once a minute, so that clients cannot fill the log.
 */
#include <sys/socket.h>

#include "http/limits/client_limits.h"
#include "http/log/log_escape.h"
#include "lib/log.h"
#include "stats/stats.h"

#define CONNECTION_RETRY_S	5	/* seconds: one may have ended */
#define RATE_RETRY_S	1	/* seconds: the rate allows a request */

static void
log_limit(const struct session *s, const char *of_what, int64_t limit,
    const char *directive)
{
	char	text[LOG_ADDR_MAX];

	log_escape_addr(s, text);
	log_notice("%s has more than %lld %s: further ones get status 429 "
	    "(%s); this line comes once a minute at most, for all "
	    "addresses", text, (long long)limit, of_what, directive);
}

/* Bytes of a session's address; 0: it has none. */
static size_t
addr_len(const struct session *s)
{
	return s->family == AF_INET ? 4 : s->family == AF_INET6 ? 16 : 0;
}

void
client_limits_connect(struct session *s)
{
	struct http_loop	*http = s->http;
	size_t			 len = addr_len(s);

	if (len == 0)
		return;
	s->address = addresses_connect(http->addresses, s->addr, len,
	    http->clock->ms);
	if (s->address != NULL)
		return;
	s->opening = OPENING_REFUSED;
	stats_count(STATS_CONNECTIONS_REFUSED);
	if (log_is_due(&http->caches->connections_warned_at, http->clock->ms))
		log_limit(s, "connections",
		    http->conf->limits.connections_address,
		    "limits { connections address }");
}

static bool
refuse_request(struct conn *c)
{
	struct http_loop	*http = c->http;

	stats_count(STATS_REQUESTS_OVER_RATE);
	if (log_is_due(&http->caches->rate_warned_at, http->clock->ms))
		log_limit(c->session, "requests a second",
		    http->conf->limits.rate, "limits { rate }");
	return false;
}

bool
client_limits_request_here(struct conn *c, const struct conf_rules *rules)
{
	struct http_loop	*http = c->http;
	const struct session	*s = c->session;
	size_t			 len = addr_len(s);

	if (rules->limiter == 0 || http->limiters == NULL || len == 0 ||
	    addresses_request_once(http->limiters[rules->limiter - 1],
	    s->addr, len, http->clock->ms))
		return true;
	stats_count(STATS_REQUESTS_OVER_RATE);
	if (log_is_due(&http->caches->rate_warned_at, http->clock->ms))
		log_limit(s, "requests a second for a path", rules->rate.rate,
		    "rate");
	return false;
}

bool
client_limits_request(struct conn *c)
{
	const struct http_loop	*http = c->http;

	return addresses_request(http->addresses, c->session->address,
	    http->clock->ms) || refuse_request(c);
}

bool
client_limits_request_of_client(struct conn *c)
{
	const struct http_loop	*http = c->http;
	size_t			 len = addr_len(c->session);

	return http->addresses == NULL || len == 0 ||
	    addresses_request_once(http->addresses, c->session->addr, len,
	    http->clock->ms) || refuse_request(c);
}

int
client_limits_retry_after(const struct conn *c)
{
	return c->session->opening == OPENING_REFUSED ? CONNECTION_RETRY_S :
	    RATE_RETRY_S;
}
