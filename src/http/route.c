/*
 * route: the site that a request is for, and what is refused before anything
 * is looked for.
 */
#include "http/conn.h"
#include "http/reply.h"

/* The response ends the connection: whose wish that is, or why. */
static bool
must_close(const struct conn *c, const struct parse *p)
{
	int64_t	most = c->http->conf->limits.requests;

	return p->close || (p->minor == 0 && !p->keep_alive) ||
	    c->http->draining || (most != 0 && c->requests + 1 >= most);
}

enum go
route_step(struct conn *c)
{
	struct request		*r = c->request;
	const struct parse	*p = &r->parse;
	struct str		 host = parse_host_name(
				    parse_str(c->input, p->host));

	if (must_close(c, p))
		c->close = true;
	/* A body is not read, so what is behind it cannot be found. */
	if (p->length > 0 || p->chunked)
		c->close = c->linger = true;
	r->variant = c->close ? 1 : p->minor == 0 ? 2 : 0;
	r->site = conf_site_find(c->http->conf, c->listener, host.at,
	    host.len);
	if (p->method == METHOD_UNKNOWN)
		return reply_error(c, 501);
	if (p->method != METHOD_GET && p->method != METHOD_HEAD)
		return reply_error(c, 405);
	if (parse_has(p, FIELD_EXPECT) && !str_same_nocase(
	    parse_field(p, c->input, FIELD_EXPECT), STR("100-continue")))
		return reply_error(c, 417);
	return conn_go(c, STEP_FIND);
}
