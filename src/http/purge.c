/*
 * purge: walks through the pathname cache, a part at a time.
 */
#include <string.h>

#include "conf/conf.h"
#include "http/http.h"
#include "http/namespace.h"
#include "http/purge.h"
#include "http/rules.h"
#include "proto/uri.h"
#include "proto/why.h"

const char *
purge_begin(struct purge *p, const struct conf_site *site, struct str target)
{
	const char	*query = memchr(target.at, '?', target.len);
	enum why	 why;

	if (query != NULL)		/* a file's name has no query */
		target.len = (size_t)(query - target.at);
	*p = (struct purge){ .site = site };
	p->beneath = target.len > 0 && target.at[target.len - 1] == '*';
	target.len -= p->beneath;
	why = uri_resolve(target, p->path, sizeof(p->path), &p->len);
	return why == WHY_NONE ? NULL : why_sentence(why);
}

static bool
match_target(void *context, const struct path *path)
{
	struct purge	*p = context;
	char		 decoded[PURGE_PATH_MAX];
	size_t		 len;

	if (path->kind == PATHNAME_UNKNOWN || (p->site != NULL &&
	    namespace_site(path->namespace) != p->site->number))
		return false;
	if (uri_resolve(rules_raw(path), decoded, sizeof(decoded),
	    &len) != WHY_NONE ||
	    len < p->len || (len > p->len && !p->beneath) ||
	    memcmp(decoded, p->path, p->len) != 0)
		return false;
	/* Its variants are no other targets. */
	p->count += path->namespace == namespace_site(path->namespace);
	return true;
}

bool
purge_continue(struct http_loop *http, struct purge *p)
{
	return pathname_forget(&http->caches->paths, &p->bucket, match_target,
	    p);
}
