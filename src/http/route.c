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

static bool
has_body(const struct parse *p)
{
	return p->length > 0 || p->chunked;
}

/* At once, without the body: so what is behind that cannot be found. */
static enum go
refuse(struct conn *c, int status)
{
	return has_body(&c->request->parse) ? reply_refuse(c, status) :
	    reply_error(c, status);
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
	r->variant = c->close ? 1 : p->minor == 0 ? 2 : 0;
	r->site = conf_site_find(c->http->conf, c->listener, host.at,
	    host.len);
	if (p->method == METHOD_UNKNOWN)
		return refuse(c, 501);
	if (p->method != METHOD_GET && p->method != METHOD_HEAD)
		return refuse(c, 405);
	if (parse_has(p, FIELD_EXPECT) && !str_same_nocase(
	    parse_field(p, c->input, FIELD_EXPECT), STR("100-continue")))
		return refuse(c, 417);
	if (!has_body(p))
		return conn_go(c, STEP_FIND);
	if (p->length > c->http->conf->limits.body)
		return refuse(c, 413);
	r->unread = p->length;
	/* In 1.0 there is no such thing (RFC 9110, section 10.1.1). */
	r->expects = parse_has(p, FIELD_EXPECT) && p->minor >= 1;
	return conn_go(c, STEP_DISCARD);
}
