/*
 * location: the field Location of a redirect.
 *
 * No value can end the line: input of the client has been parsed or is encoded
 * anew, and texts of the conf have been checked.
 */
#include <string.h>

#include "http/location.h"
#include "http/peer.h"
#include "http/rules.h"
#include "proto/uri.h"

/*
 * Adds the decoded path from some byte on, encoded anew.  The path as it was
 * sent may begin with "//" or "/\", which a browser takes for another host.
 */
static void
add_path(struct buf *b, const struct path *p, size_t from)
{
	char	path[JOB_PATH_MAX];
	size_t	len = rules_decode(p, path);

	if (len <= from)
		return;
	buf_reserve(b, 3 * (len - from) + 1);
	b->len += uri_encode((struct str){ path + from, len - from },
	    b->at + b->len);
}

/* Begins a path as an absolute URL if a proxy has said which: the client's may
 * differ from the one that the proxy has asked. */
static void
add_origin(struct buf *b, const struct conn *c)
{
	struct str	scheme, host;

	if (!peer_get_origin(c, &scheme, &host))
		return;
	buf_add(b, scheme.at, scheme.len);
	buf_adds(b, "://");
	buf_add(b, host.at, host.len);
}

void
location_add(struct conn *c)
{
	const struct parse	*parse = &c->request->parse;
	const struct path	*p = c->request->path;
	const struct conf_rules	*rules = p->rules;
	const char		*to = rules->action->redirect.to;
	struct str		 query = parse_str(c->input, parse->query);
	struct buf		*b = &c->http->work;
	bool			 has_query = false;

	buf_adds(b, "Location: ");
	if (c->request->info.kind == PATHNAME_DIRECTORY || to[0] == '/')
		add_origin(b, c);
	if (c->request->info.kind == PATHNAME_DIRECTORY) {
		add_path(b, p, 0);
		buf_addc(b, '/');
	} else {
		buf_adds(b, to);
		has_query = strchr(to, '?') != NULL;
		if (!has_query && to[strlen(to) - 1] == '/')
			/* without its slash: it is relative to that */
			add_path(b, p, rules->action->prefix_len + 1);
	}
	if (query.len > 0) {
		buf_addc(b, has_query ? '&' : '?');
		buf_add(b, query.at, query.len);
	}
	buf_adds(b, "\r\n");
}
