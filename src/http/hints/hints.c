/*
 * hints: notes what waits, by its field Referer; sends the lists of pages,
 * which may have to be read before.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/strategies.h"
#include "http/hints/hints.h"
#include "http/hints/pages.h"
#include "http/hints/reference.h"
#include "http/rules.h"
#include "lib/mem.h"
#include "stats/stats.h"

#define BEHIND_S	4	/* between a page and a file behind it */
#define SETTLE_EVERY	100	/* ms between two looks at what was used */

struct hints {
	struct hint_table	*table;
	struct pages		*pages;		/* NULL: they are not read */
	const struct pathname_cache *paths;
	_Atomic int64_t		 settled_at;	/* clock ms */
};

struct hints *
hints_new(const struct conf *conf, struct caches *caches)
{
	struct hints	*h;

	if (conf->cache.hints == HINTS_OFF)
		return NULL;
	h = mem_zero(sizeof(*h));
	h->table = hint_table_new(caches->shared);
	h->paths = &caches->paths;
	if (conf->cache.hints == HINTS_LINKS)
		h->pages = pages_new(caches, h->table);
	return h;
}

void
hints_free(struct hints **hp)
{
	if (*hp == NULL)
		return;
	pages_free(&(*hp)->pages);
	hint_table_free(&(*hp)->table);
	mem_drop(hp);
}

/*
 * Uses
 */

static bool
get_uses(void *context, struct hint_path *p)
{
	const struct hints	*h = context;

	return path_info_get_uses(h->paths, p->namespace, p->name, &p->uses);
}

static void
settle_sometimes(struct http_loop *http)
{
	struct hints	*h = http->caches->hints;

	if (http->clock->ms - h->settled_at < SETTLE_EVERY)
		return;
	h->settled_at = http->clock->ms;
	hint_table_settle(h->table, get_uses, h);
}

void
hints_measure(const struct caches *caches)
{
	struct hints		*h = caches->hints;
	struct hint_counts	 counts;

	if (h == NULL)
		return;
	hint_table_settle(h->table, get_uses, h);
	hint_table_get_counts(h->table, &counts);
	stats_set(STATS_HINTED, counts.brought);
	stats_set(STATS_HINTS_USED, counts.used);
	stats_set(STATS_HINTS_WASTED, counts.wasted);
}

/*
 * From main to main
 */

/* With `links` a page itself has its list. */
static bool
has_learned(const struct hints *h)
{
	return h != NULL && h->pages == NULL;
}

bool
hints_visit(const struct caches *caches, size_t *bucket,
    void (*tell)(void *, const struct hint_list *), void *context)
{
	const struct hints	*h = caches->hints;

	return has_learned(h) && hint_table_visit(h->table, bucket, tell,
	    context);
}

bool
hints_restore(const struct caches *caches, const struct hint_list *list)
{
	if (!has_learned(caches->hints))
		return false;
	hint_table_restore(caches->hints->table, list);
	return true;
}

/*
 * Waits
 */

/* Whether the client has asked for a file by its own name. */
static bool
is_plain(const struct request *r)
{
	return r->parse.method == METHOD_GET && r->page.name == NULL &&
	    r->local_redirects == 0;
}

/* Adds the name of a raw target of this site and host to http->work. */
static struct hint_page
add_page(struct conn *c, struct str raw)
{
	const struct request	*r = c->request;
	struct hint_page	 page = { (uint32_t)r->site->number, raw };

	if (r->site->rules.some_by_host)
		page.name = rules_add_name(&c->http->work,
		    parse_host_name(&r->parse, c->input), raw);
	return page;
}

static bool
was_sent_lately(const struct http_loop *http, const struct hint_page *page)
{
	return path_info_was_sent(&http->caches->paths, page->site, page->name,
	    http->clock->wall - BEHIND_S);
}

/* Notes the file behind the page that Referer names. */
static void
note_file(struct conn *c, struct str authority, struct str target)
{
	const struct parse	*p = &c->request->parse;
	struct str		 referer = parse_field(p, c->input,
				    FIELD_REFERER), raw;
	size_t			 before = c->http->work.len;
	struct hint_page	 page;

	if (!reference_find_path(referer, authority, &raw) ||
	    str_same(raw, target))
		return;
	page = add_page(c, raw);
	if (was_sent_lately(c->http, &page))
		hint_table_note(c->http->caches->hints->table, &page, target);
	c->http->work.len = before;
}

/* Sends the list of the target, which may be a page, or has it read before. */
static void
send_list(struct conn *c, struct str authority, struct str target)
{
	const struct parse	*p = &c->request->parse;
	struct caches		*caches = c->http->caches;
	struct hints		*h = caches->hints;
	size_t			 before = c->http->work.len;
	struct hint_page	 page = add_page(c, target);
	struct hint_asker	 asker = {
		.listener = c->session->listener,
		.host = authority,
		.codings = parse_field(p, c->input, FIELD_ACCEPT_ENCODING),
	};

	settle_sometimes(c->http);
	if (h->pages != NULL)
		pages_add(h->pages, c, &asker);
	if (h->pages != NULL || hint_table_send(h->table, &page, &asker,
	    c->http->clock->ms))
		pages_wake_loader(caches);
	c->http->work.len = before;
}

void
hints_note_first_wait(struct conn *c)
{
	struct request	*r = c->request;
	struct hints	*h = c->http->caches->hints;
	struct str	 authority, target;

	r->disk.waited = true;
	if (session_is_background(c->session))
		(void)path_info_get_uses(&c->http->caches->paths,
		    r->path->namespace,
		    (struct str){ r->path->name, r->path->len },
		    &r->disk.uses);
	if (h == NULL || session_is_invented(c->session))
		return;
	hint_table_count_read(h->table);
	authority = parse_str(c->input, r->parse.host);
	if (!is_plain(r) || authority.len == 0)
		return;
	target = parse_str(c->input, r->parse.path);
	if (h->pages == NULL && parse_has(&r->parse, FIELD_REFERER))
		note_file(c, authority, target);
	send_list(c, authority, target);
}

/*
 * Bringing in
 */

bool
hints_wait(const struct caches *caches)
{
	const struct hints	*h = caches->hints;

	return h != NULL && (hint_table_queued(h->table) > 0 ||
	    (h->pages != NULL && pages_wait(h->pages)));
}

bool
hints_next(struct http_loop *http, struct hint *to)
{
	const struct hints	*h = http->caches->hints;

	if (h == NULL || (http->disk.is_busy != NULL &&
	    http->disk.is_busy(http->disk.context)))
		return false;
	if (h->pages != NULL)
		pages_read(h->pages, http);
	return hint_table_next(h->table, http->clock->ms, to);
}

void
hints_end(struct http_loop *http, const struct hint *hint,
    const struct conn *c)
{
	const struct request	*r = c != NULL ? c->request : NULL;
	const struct path	*p = r != NULL ? r->path : NULL;
	struct hint_path	 path;
	bool			 waited = p != NULL && r->disk.waited;

	if (waited)
		path = (struct hint_path){ p->namespace,
		    { p->name, p->len }, r->disk.uses };
	hint_table_brought(http->caches->hints->table, hint->page,
	    str_of(hint->target.at), waited ? &path : NULL);
}
