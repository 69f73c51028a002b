/*
 * timeouts: how long waits may be that are about a target.
 */
#include "http/limits/timeouts.h"
#include "http/rules.h"
#include "proto/uri.h"

_Static_assert(CONF_TERMS_MAX <= WAIT_TERMS_MAX,
    "a conf has more terms than a driver has lists");

static const struct conf_rules *
get_rules(const struct conn *c)
{
	return c->request != NULL ? rules_of(c->request) : NULL;
}

struct conf_timeout
timeouts_send(const struct conn *c)
{
	const struct conf_rules	*rules = get_rules(c);

	return rules != NULL ? rules->send :
	    (struct conf_timeout){ c->http->conf->limits.send, 0 };
}

struct conf_timeout
timeouts_body(const struct conn *c)
{
	const struct request	*r = c->request;
	const struct conf_rules	*rules = &r->site->rules;
	char			 decoded[JOB_PATH_MAX];
	size_t			 len;
	enum why		 why = uri_resolve(parse_str(c->input,
				    r->parse.path), decoded, sizeof(decoded),
				    &len);

	if (why == WHY_NONE || why == WHY_HIDDEN)
		rules = conf_find_rules(r->site, decoded, len);
	return rules->body_within;
}

struct conf_timeout
timeouts_idle(const struct session *s)
{
	const struct conf	*conf = s->http->conf;

	return (struct conf_timeout){ s->idle_term == 0 ? conf->limits.idle :
	    conf->terms[s->idle_term].ms, s->idle_term };
}

void
timeouts_note_idle(struct conn *c)
{
	const struct conf_rules	*rules = get_rules(c);

	c->session->idle_term = rules != NULL ? rules->idle.term : 0;
}
