/*
 * preload: notes what has come of a request, and asks for variants; walks
 * through the path cache.
 */
#include "http/conn.h"
#include "http/hints/hints.h"
#include "http/http.h"
#include "http/preload.h"
#include "http/namespace.h"
#include "http/rules.h"
#include "http/log/refusal.h"
#include "http/variants/variant.h"

static void
add_variant_requests(struct preload *p, const struct conf_rules *rules,
    uint32_t variants)
{
	char	name[VARIANT_NAME_MAX];

	if (p->variant_request.len == 0)
		return;
	while (variant_next(rules, &variants, name)) {
		buf_add(&p->request, p->variant_request.at,
		    p->variant_request.len);
		variant_add_field(&p->request, name);
		buf_adds(&p->request, "\r\n\r\n");
	}
}

void
preload_add_field(struct buf *to, const char *variant)
{
	variant_add_field(to, variant);
}

static bool
set_name(const struct path *path, char name[VARIANT_NAME_MAX])
{
	return variant_name(path, namespace_get(path->namespace)->coding, name);
}

static void
end_hint(struct preload *p, const struct conn *c)
{
	if (p->http != NULL)
		hints_end(p->http, &p->hint, c);
	p->http = NULL;
}

static void
note_response(const struct client_kind *kind, const struct conn *c)
{
	struct preload		*p = (struct preload *)(uintptr_t)kind;
	const struct request	*r = c->request;
	const struct path	*path = r->path;
	char			 name[VARIANT_NAME_MAX];

	if (p->status != 0) {
		if (path != NULL && namespace_is_variant(path->namespace) &&
		    r->response.status == 200 && set_name(path, name))
			buf_addf(&p->codings, " %s", name);
		return;
	}
	p->status = r->response.status;
	p->reason = refusal_reason(r, r->response.status);
	p->bytes = r->body.sent;
	p->truncated = r->body.next < r->body.end;
	end_hint(p, c);
	if (r->response.status == 200 && path != NULL)
		add_variant_requests(p, path->rules, r->info.variants);
}

void
preload_init(struct preload *p)
{
	p->kind.request_ended = note_response;
	p->kind.trusted = p->kind.no_files = true;
}

/* As the client would ask, but for the first chunk only. */
static void
write_request(struct preload *p, const struct conf *conf)
{
	const struct hint	*h = &p->hint;

	buf_addf(&p->request, "GET %s HTTP/1.1\r\nHost: %s\r\n"
	    "Range: bytes=0-%lld\r\n", h->target.at, h->host.at,
	    (long long)conf->cache.chunk_size - 1);
	if (h->codings.len > 0)
		buf_addf(&p->request, "Accept-Encoding: %s\r\n",
		    h->codings.at);
	buf_adds(&p->request, "\r\n");
}

bool
preload_has_hints(const struct http_loop *http)
{
	return hints_wait(http->caches);
}

bool
preload_take_hint(struct preload *p, struct http_loop *http, size_t *listener)
{
	if (!hints_next(http, &p->hint))
		return false;
	p->http = http;
	p->kind.no_programs = p->kind.background = true;
	*listener = p->hint.listener;
	write_request(p, http->conf);
	return true;
}

void
preload_end(struct preload *p)
{
	end_hint(p, NULL);
	hint_table_free_hint(&p->hint);
	buf_free(&p->request);
	buf_free(&p->variant_request);
	buf_free(&p->codings);
}

struct visit {
	void	(*tell)(void *, const struct preload_name *);
	void	*context;
};

/* Chooses no path to be forgotten. */
static bool
visit_path(void *context, const struct path *path)
{
	const struct visit	*v = context;
	/* The next main is to have kept files first. */
	struct preload_name	 name = { .uses = path->kept ? UINT16_MAX :
				    path->uses };
	char			 text[VARIANT_NAME_MAX];

	if (path->kind != PATHNAME_FILE || path->rules == NULL)
		return false;
	if (namespace_is_variant(path->namespace)) {
		if (!set_name(path, text))
			return false;
		name.coding = text;
	} else if (namespace_kind(path->namespace) != NAMESPACE_TARGET)
		return false;
	name.site = namespace_site(path->namespace);
	name.target = rules_raw(path);
	if (name.target.at > path->name)
		name.host = (struct str){ path->name + 1,
		    (size_t)(name.target.at - path->name) - 1 };
	v->tell(v->context, &name);
	return false;
}

bool
preload_visit(struct http_loop *http, size_t *bucket,
    void (*tell)(void *, const struct preload_name *), void *context)
{
	struct visit	v = { tell, context };

	return pathname_forget(&http->caches->paths, bucket, visit_path, &v);
}

struct list_visit {
	const struct conf	*conf;
	void			(*tell)(void *, const struct preload_list *);
	void			*context;
};

/* Takes the host out of the name of a page, which is one of rules_add_name() in
 * a site with roots by host. */
static struct str
take_host(struct str *name)
{
	struct str	host = *name;

	str_skip(&host, 1);
	host = str_cut(&host, '/');
	str_skip(name, host.len + 1);
	return host;
}

static void
tell_list(void *context, const struct hint_list *list)
{
	const struct list_visit	*v = context;
	struct preload_list	 told = { .site = list->page.site,
				    .target = list->page.name, .n = list->n };

	if (v->conf->sites[told.site].rules.some_by_host)
		told.host = take_host(&told.target);
	for (unsigned i = 0; i < list->n; i++)
		told.files[i] = list->targets[i];
	v->tell(v->context, &told);
}

bool
preload_visit_lists(struct http_loop *http, size_t *bucket,
    void (*tell)(void *, const struct preload_list *), void *context)
{
	struct list_visit	v = { http->conf, tell, context };

	return hints_visit(http->caches, bucket, tell_list, &v);
}

bool
preload_add_list(struct http_loop *http, const struct preload_list *added)
{
	const struct conf_site	*site = &http->conf->sites[added->site];
	size_t			 before = http->work.len;
	bool			 taken;
	struct hint_list	 list = { .page = { (uint32_t)added->site,
				    added->target }, .n = added->n };

	if (site->rules.some_by_host)
		list.page.name = rules_add_name(&http->work, added->host,
		    added->target);
	for (unsigned i = 0; i < added->n; i++)
		list.targets[i] = added->files[i];
	taken = hints_restore(http->caches, &list);
	http->work.len = before;
	return taken;
}

static bool
has_room(const struct cache *c)
{
	bool	has;

	lock_acquire(c->lock);
	has = (c->limit_entries == 0 || c->entries < c->limit_entries) &&
	    (c->limit_bytes == 0 || c->bytes < c->limit_bytes);
	lock_release(c->lock);
	return has;
}

bool
preload_has_room(struct http_loop *http)
{
	const struct caches	*caches = http->caches;

	return has_room(&caches->paths.cache) &&
	    has_room(&caches->heads.cache) && has_room(&caches->chunks.cache);
}
