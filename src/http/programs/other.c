/*
 * other: requests that are not for files.
 *
 * A request is marked by a bit of its head, beside those of fields that only
 * some requests have, so the steps of files look for no more than before.
 */
#include "http/programs/other.h"
#include "http/reply.h"
#include "proto/uri.h"

_Static_assert(FIELD_COUNT < 31, "the bit is a field's");

bool
other_is_possible(const struct conn *c)
{
	const struct request	*r = c->request;
	char			 decoded[JOB_PATH_MAX] = "";
	size_t			 len = 0;

	if (c->http->conf->nprograms == 0)
		return false;
	/* A path with an escape that is refused has the rules of what stands
	 * before that: it is refused with every method alike. */
	uri_resolve(parse_str(c->input, r->parse.path), decoded,
	    sizeof(decoded), &len);
	return conf_find_rules(r->site, decoded, len)->run.n > 0;
}

bool
other_is(const struct request *r)
{
	return (r->parse.present & OTHER_BIT) != 0;
}

void
other_note(struct request *r)
{
	r->parse.present |= OTHER_BIT;
}

enum go
other_defer(struct conn *c)
{
	other_note(c->request);
	c->request->discard.deferred = true;
	return conn_go(c, STEP_AUTHORIZE);
}

enum go
other_discard(struct conn *c)
{
	struct request	*r = c->request;

	if (r->parse.content_length > c->http->conf->limits.body)
		return reply_error(c, reply_why(c, WHY_BODY_LARGE));
	r->discard.deferred = false;
	if (r->parse.method == METHOD_GET || r->parse.method == METHOD_HEAD)
		r->parse.present &= ~OTHER_BIT;
	conn_request_reset(c);
	return conn_go(c, STEP_DISCARD);
}

enum go
other_refuse(struct conn *c)
{
	if (c->request->discard.deferred)
		return other_discard(c);
	return c->request->parse.method == METHOD_OPTIONS ? reply_options(c) :
	    reply_error(c, reply_why(c, WHY_METHOD));
}
