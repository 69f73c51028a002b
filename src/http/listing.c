/*
 * listing: the forms and orders of pages that list directories.
 *
 * Must not touch the entries of a directory: a helper does all work on them.
 */
#include <string.h>

#include "http/listing.h"
#include "http/namespace.h"
#include "http/page.h"
#include "http/rules.h"
#include "lib/need.h"
#include "proto/accept.h"

/* Patterns of names that every page leaves out, as they are never served (see
 * uri.h). */
#define HIDDEN		".*\0*[[:cntrl:]]*"
_Static_assert(sizeof(HIDDEN) + CONF_HIDE_MAX <= JOB_PATH_MAX,
    "patterns that do not fit into a job");

/* The word in the query, the word in the job, the title of the column. */
#define ORDERS(X)							\
	X("name", "name", "Name")					\
	X("size", "size", "Size")					\
	X("date", "time", "Date (UTC)")

static const struct {
	const char	*query, *job, *title;
} orders[] = {
#define X(query, job, title) { query, job, title },
	ORDERS(X)
#undef X
};

#define ORDER_COUNT	(sizeof(orders) / sizeof(orders[0]))

/* The properties of a page. */
struct page {
	bool		json, backwards;
	uint32_t	order;			/* in orders */
};

static struct page
get_page(uint32_t ns)
{
	uint32_t	n = namespace_form(ns);

	return (struct page){ n & 1, n >> 1 & 1, n >> 2 };
}

static bool
lists_in_form(const struct conf_rules *rules, enum conf_listing form)
{
	return conf_find_listing(rules_listing(rules), form);
}

/* Whether the client may choose the form. */
static bool
client_chooses(const struct request *r)
{
	const struct conf_rules	*rules = r->path->rules;

	return lists_in_form(rules, LISTING_HTML) &&
	    lists_in_form(rules, LISTING_JSON);
}

static bool
wants_json(struct conn *c)
{
	struct str	accept;

	if (!client_chooses(c->request))
		return lists_in_form(c->request->path->rules, LISTING_JSON);
	c->http->work.len = 0;
	accept = conn_field_list(c, FIELD_ACCEPT);
	return accept_weight(accept, STR("application/json")) >
	    accept_weight(accept, STR("text/html"));
}

/* The value of a key in a query; empty if it is not there. */
static struct str
find_query_value(struct str query, struct str key)
{
	struct str	pair;

	while (query.len > 0) {
		pair = str_cut(&query, '&');
		if (str_starts(pair, key))
			return (struct str){ pair.at + key.len,
			    pair.len - key.len };
	}
	return (struct str){ NULL, 0 };
}

uint32_t
listing_choose(struct conn *c)
{
	const struct request	*r = c->request;
	struct str		 query = parse_str(c->input, r->parse.query);
	struct str		 sort = find_query_value(query, STR("sort="));
	struct page		 v = { .json = wants_json(c) };

	for (uint32_t i = 0; i < ORDER_COUNT; i++)
		if (str_same(sort, str_of(orders[i].query)))
			v.order = i;
	v.backwards = str_same(find_query_value(query, STR("order=")),
	    STR("desc"));
	return namespace_of(r->path->namespace, NAMESPACE_LISTING,
	    v.json | v.backwards << 1 | v.order << 2);
}

const char *
listing_type(uint32_t ns)
{
	return get_page(ns).json ? "application/json" :
	    "text/html; charset=utf-8";
}

const char *
listing_vary(const struct request *r)
{
	return client_chooses(r) ? "Accept" : NULL;
}

static void
add_text(struct buf *to, const char *text)
{
	buf_add(to, text, strlen(text) + 1);
}

/* Adds patterns of names to be left out, of all rules in force. */
static void
add_hide(struct buf *to, const struct conf_rules *rules)
{
	buf_add(to, HIDDEN, sizeof(HIDDEN));
	for (; rules != NULL; rules = rules->outer) {
		for (size_t i = 0; i < rules->hide.n; i++)
			add_text(to, rules->hide.at[i]);
	}
}

/*
 * JSON
 */

static void
add_json(struct buf *to)
{
	add_text(to, "[\n");
	add_text(to, "{\"name\":\"%{name:json}\",\"href\":\"%{name:percent}/\","
	    "\"kind\":\"directory\",\"size\":null,\"mtime\":\"%{time}\"}");
	add_text(to, "{\"name\":\"%{name:json}\",\"href\":\"%{name:percent}\","
	    "\"kind\":\"file\",\"size\":%{size},\"mtime\":\"%{time}\"}");
	add_text(to, ",\n");
	add_text(to, "{\"more\":true}");
	add_text(to, "\n]\n");
}

/*
 * HTML
 */

/* Adds a column's title: a link that orders the page by the column, or reverses
 * the order. */
static void
add_column(struct buf *to, const struct page *v, uint32_t i)
{
	bool	is_order = v->order == i;

	buf_adds(to, "<th scope=\"col\"");
	if (is_order)
		buf_addf(to, " aria-sort=\"%s\"",
		    v->backwards ? "descending" : "ascending");
	buf_addf(to, "><a href=\"?sort=%s%s\">%s</a></th>", orders[i].query,
	    is_order && !v->backwards ? "&amp;order=desc" : "",
	    orders[i].title);
}

static void
add_head(struct buf *to, const struct page *v, bool top)
{
	buf_adds(to, PAGE_BEGIN "<title>%{title:xml}</title>\n"
	    "<style>\n" PAGE_STYLE
	    "table { border-collapse: collapse; width: 100%% }\n"
	    "th { text-align: left }\n"
	    "tr { border-bottom: 1px solid #8884 }\n"
	    "td:first-child { overflow-wrap: anywhere; width: 100%% }\n"
	    "td + td, th + th { padding-left: 1em; text-align: right; "
	    "white-space: nowrap }\n"
	    "</style></head>\n"
	    "<body><h1>%{title:xml}</h1>\n<table>\n<thead><tr>");
	for (uint32_t i = 0; i < ORDER_COUNT; i++)
		add_column(to, v, i);
	buf_adds(to, "</tr></thead>\n<tbody>\n");
	if (!top)
		buf_adds(to, "<tr><td><a href=\"../\">../</a></td>"
		    "<td></td><td></td></tr>\n");
	buf_addc(to, '\0');
}

static void
add_html(struct buf *to, const struct conf *conf, const struct page *v,
    bool top)
{
	static const char	date[] = "<td><time datetime=\"%{time}\">"
				    "%{date}</time></td></tr>\n";

	add_head(to, v, top);
	buf_adds(to, "<tr><td><a href=\"%{name:percent}/\">"
	    "<bdi>%{name:xml}</bdi>/</a></td><td></td>");
	add_text(to, date);
	buf_adds(to, "<tr><td><a href=\"%{name:percent}\">"
	    "<bdi>%{name:xml}</bdi></a></td><td>%{human}</td>");
	add_text(to, date);
	add_text(to, "");
	buf_addf(to, "<tr><td colspan=\"3\">There is more: a listing shows "
	    "%lld entries or %lld bytes at most.</td></tr>\n",
	    (long long)conf->limits.listing,
	    (long long)conf->limits.listing_bytes);
	buf_addc(to, '\0');
	add_text(to, "</tbody></table></body></html>\n");
}

/*
 * The job
 */

static void
add_template(struct buf *to, const struct conf *conf, uint32_t ns,
    const char *path)
{
	struct page	v = get_page(ns);

	buf_adds(to, v.backwards ? "-" : "");
	add_text(to, orders[v.order].job);
	add_text(to, path);
	if (v.json)
		add_json(to);
	else
		add_html(to, conf, &v, strcmp(path, "/") == 0);
}

void
listing_fill_job(struct job *job, const struct conf *conf,
    const struct path *p, const char *decoded, struct buf *text)
{
	struct job_list	*list = &job->list;
	size_t		 start = text->len, hidden_len;

	add_hide(text, p->rules);
	hidden_len = text->len - start;
	add_template(text, conf, p->namespace, decoded);
	list->hidden = (struct str){ text->at + start, hidden_len };
	list->template = (struct str){ text->at + start + hidden_len,
	    text->len - start - hidden_len };
	list->entries_max = (uint64_t)conf->limits.listing;
	list->bytes_max = conf->limits.listing_bytes;
}
