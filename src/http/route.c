/*
 * route: finds the site of a request, and refuses what needs no lookup.
 */
#include "http/conn.h"
#include "http/fields.h"
#include "http/peer.h"
#include "http/programs/other.h"
#include "http/reply.h"
#include "lib/compiler.h"

/* Whether this connection is one of those that go to another main. */
static COLD bool
take_leave(struct conn *c)
{
	if (session_is_trusted(c->session))	/* a preload's */
		return false;
	c->http->sent_away--;
	return true;
}

/* Whether the connection ends with this response, by the client's wish or a
 * limit.  A preload sends requests for variants behind the file's. */
static bool
must_close(struct conn *c)
{
	int64_t	most = c->http->conf->limits.requests;

	return c->last_request || c->http->draining ||
	    (c->http->sent_away != 0 && take_leave(c)) ||
	    (most != 0 && c->session->requests + 1 >= most &&
	    !session_is_trusted(c->session));
}

static bool
has_body(const struct parse *p)
{
	return p->content_length > 0 || p->chunked;
}

/*
 * Refuses a request without reading its body.  The end of the body is unknown
 * then, so the connection is closed; so it is after CONNECT, as some clients
 * use the tunnel before they are told that there is one.
 */
static COLD enum go
refuse_request(struct conn *c, enum why why)
{
	const struct parse	*p = &c->request->parse;
	int			 status = reply_why(c, why);

	return has_body(p) || p->method == METHOD_CONNECT ?
	    reply_error_close(c, status) : reply_error(c, status);
}

/* Whether the field Expect asks for nothing but 100-continue. */
static COLD bool
meets_expectations(const struct conn *c)
{
	const struct parse	*p = &c->request->parse;
	struct str		 list, one;
	uint32_t		 at = 0;

	while (parse_next(p, c->input, FIELD_EXPECT, &at, &list))
		while (str_next(&list, &one))
			if (!str_same_nocase(one, STR("100-continue")))
				return false;
	return true;
}

/* The reason why a method is not served, or WHY_NONE. */
static enum why
check_method(const struct parse *p)
{
#define BIT(method)	1U << METHOD_##method
	const unsigned	served = FIELDS_METHODS(BIT, |);
#undef BIT

	/* A target of CONNECT has no other methods to be allowed. */
	if (p->method == METHOD_UNKNOWN || p->method == METHOD_CONNECT)
		return WHY_METHOD_UNKNOWN;
	return (served & 1U << p->method) != 0 ? WHY_NONE : WHY_METHOD;
}

/* Whether the request may have a method that files do not have.  TRACE is
 * never a program's: its answer would show what a client's scripts must not
 * see. */
static COLD bool
may_be_other(struct conn *c)
{
	enum parse_method	method = (enum parse_method)
				    c->request->parse.method;

	if (method == METHOD_CONNECT || method == METHOD_TRACE ||
	    !other_is_possible(c))
		return false;
	other_note(c->request);
	return true;
}

static NOINLINE enum go
start_discard(struct conn *c)
{
	struct request		*r = c->request;
	const struct parse	*p = &r->parse;

	r->discard.left = p->content_length;
	/* HTTP/1.0 has no Expect (RFC 9110, section 10.1.1). */
	r->discard.expect_continue = parse_has(p, FIELD_EXPECT) &&
	    p->minor >= 1;
	if (other_is_possible(c))
		return other_defer(c);
	if (p->content_length > c->http->conf->limits.body)
		return refuse_request(c, WHY_BODY_LARGE);
	return conn_go(c, STEP_DISCARD);
}

enum go
route_step(struct conn *c)
{
	struct request		*r = c->request;
	const struct parse	*p = &r->parse;
	struct str		 host = parse_host_name(p,
				    c->input);
	enum why		 why;

	c->last_request = p->close || (p->minor == 0 && !p->keep_alive);
	if (must_close(c))
		c->close = true;
	r->response.head_kind = c->close ? 1 : p->minor == 0 ? 2 : 0;
	r->site = conf_find_site(c->http->conf, c->session->listener, host.at,
	    host.len);
	if (c->session->address != NULL &&
	    (why = peer_request(c)) != WHY_NONE)
		return refuse_request(c, why);
	why = check_method(p);
	if (why != WHY_NONE && !may_be_other(c))
		return refuse_request(c, why);
	if (parse_has(p, FIELD_EXPECT) && !meets_expectations(c))
		return refuse_request(c, WHY_EXPECTATION);
	return has_body(p) ? start_discard(c) : conn_go(c, STEP_AUTHORIZE);
}
