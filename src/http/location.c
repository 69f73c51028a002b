/*
 * location: where a redirect leads.
 *
 * What comes from the client has been through the parser or is encoded anew,
 * what comes from the conf has been checked when it was read: neither can end
 * the line.
 */
#include <string.h>

#include "http/location.h"
#include "http/uri.h"
#include "lib/need.h"

/* To the same path with a slash. */
static void
add_slashed(struct buf *b, struct str path)
{
	/* A path of its own, so never "//host": that would lead elsewhere. */
	while (path.len > 1 && path.at[1] == '/') {
		path.at++;
		path.len--;
	}
	buf_add(b, path.at, path.len);
	buf_addc(b, '/');
}

/* What is left of a path below a prefix, without its first slash, so that it
 * stays below whatever it is put behind. */
static void
add_rest(struct buf *b, const struct path *p, size_t prefix)
{
	char	path[JOB_PATH_MAX];
	size_t	len;

	need(uri_resolve((struct str){ p->name, p->len }, path, sizeof(path),
	    &len) == 0);
	if (len <= prefix)
		return;
	len -= prefix + 1;
	buf_need(b, 3 * len + 1);
	b->len += uri_encode((struct str){ path + prefix + 1, len },
	    b->at + b->len);
}

void
location_add(struct conn *c)
{
	const struct parse	*parse = &c->request->parse;
	const struct path	*p = c->request->path;
	const struct conf_rules	*rules = p->rules;
	const char		*to = rules->answer->redirect.to;
	struct str		 query = parse_str(c->input, parse->query);
	struct buf		*b = &c->http->work;
	bool			 has_query = false;

	buf_adds(b, "Location: ");
	if (p->kind == PATHNAME_DIRECTORY) {
		add_slashed(b, parse_str(c->input, parse->path));
	} else {
		buf_adds(b, to);
		has_query = strchr(to, '?') != NULL;
		if (!has_query && to[strlen(to) - 1] == '/')
			add_rest(b, p, rules->answer->prefix);
	}
	if (query.len > 0) {
		buf_addc(b, has_query ? '&' : '?');
		buf_add(b, query.at, query.len);
	}
	buf_adds(b, "\r\n");
}
