/*
 * explain: reads facts off a request when it ends.
 *
 * Must not decide anything: it reports decisions of the steps.
 */
#include <stdarg.h>
#include <string.h>

#include "conf/where.h"
#include "http/conn.h"
#include "http/explain.h"
#include "http/namespace.h"
#include "http/reply.h"
#include "http/rules.h"
#include "lib/visible.h"
#include "proto/status.h"

static const char *const fact_names[] = {
#define X(id, name) [EXPLAIN_##id] = name,
	EXPLAIN_FACTS(X)
#undef X
};

void
explain_add(struct explanation *e, enum explain_fact fact, const char *format,
    ...)
{
	struct buf	*b = &e->facts[fact];
	va_list		 args;

	buf_addf(b, "%-10s", fact_names[fact]);
	va_start(args, format);
	buf_addv(b, format, args);
	va_end(args);
	buf_addc(b, '\n');
}

/*
 * Facts
 */

static void
add_site(struct explanation *e, const struct conn *c)
{
	const struct request	*r = c->request;
	const struct conf	*conf = c->http->conf;
	struct str		 host = parse_host_name(&r->parse,
				    c->input);
	const char		*name;
	struct buf		 where = { 0 };

	if (r->site == NULL)
		return;
	name = conf_find_site_name(conf, c->session->listener, host.at,
	    host.len);
	conf_where_block(conf, &r->site->rules, &where);
	if (name == NULL)
		explain_add(e, EXPLAIN_SITE, "%s%s, as the default: no "
		    "site of this listener is named %.*s", r->site->names.at[0],
		    buf_string(&where), (int)host.len, host.at);
	else
		explain_add(e, EXPLAIN_SITE, "%s%s, by the name %s",
		    r->site->names.at[0], buf_string(&where), name);
	buf_free(&where);
}

static void
add_path(struct explanation *e, const struct conn *c)
{
	const struct request	*r = c->request;
	const struct conf_rules	*rules = rules_of(r);
	struct buf		 where = { 0 };

	if (r->path == NULL)
		return;			/* the request ended before */
	if (rules->outer == NULL)
		explain_add(e, EXPLAIN_PATH, "no block but the site's own");
	for (size_t i = 0; i < r->site->npaths; i++) {
		if (rules != &r->site->paths[i].rules)
			continue;
		conf_where_block(c->http->conf, rules, &where);
		explain_add(e, EXPLAIN_PATH, "%s%s",
		    r->site->paths[i].prefix, buf_string(&where));
	}
	buf_free(&where);
}

static void
add_file(struct explanation *e, const struct conn *c)
{
	const struct file	*f = c->request->file;
	const char		*coding, *of;
	char			 date[DATE_LENGTH];

	if (f == NULL)
		return;
	coding = namespace_get(c->request->path->namespace)->coding;
	of = coding != NULL ? " of " : "";
	if (file_is_made(f)) {
		explain_add(e, EXPLAIN_FILE, "made of the %s, %lld bytes%s%s",
		    coding != NULL ? "file" : "directory",
		    (long long)f->version.size, of,
		    coding != NULL ? coding : "");
		return;
	}
	date_format((time_t)f->version.mtime, date);
	explain_add(e, EXPLAIN_FILE, "%lld bytes%s%s, modified %.*s, %s tag",
	    (long long)f->version.size, of, coding != NULL ? coding : "",
	    (int)sizeof(date), date, f->strong ? "strong" : "weak");
}

/* Adds the directive that names an error page. */
static void
add_error(const struct conn *c, struct buf *to)
{
	const struct request	*r = c->request;
	const struct conf_rules	*rules;

	for (rules = r->page.target_rules; rules != NULL;
	    rules = rules->outer) {
		for (size_t i = 0; i < rules->errors.n; i++) {
			if (rules->errors.at[i].value != r->page.name)
				continue;
			conf_where(c->http->conf, rules, "error", i, to);
			return;
		}
	}
}

static void
add_page(struct explanation *e, const struct conn *c)
{
	const struct request	*r = c->request;
	struct buf		 where = { 0 };

	if (r->page.name == NULL)
		return;
	if (r->page.status != 0)
		add_error(c, &where);
	else
		conf_where(c->http->conf, r->page.target_rules, "fallback",
		    CONF_WHERE_ALL, &where);
	explain_add(e, EXPLAIN_PAGE, "%s, by %s%s", r->page.name,
	    buf_string(&where), r->file != NULL ? "" :
	    "; that page cannot be had either");
	buf_free(&where);
}

/* Adds the block "files" that a refusal comes from; false: another block's. */
static bool
add_files_block(const struct conn *c, struct buf *where)
{
	const struct request	*r = c->request;

	return (r->response.status == 401 || r->response.status == 403) &&
	    r->auth.guard != NULL &&
	    conf_where_files(c->http->conf, r->auth.guard, where);
}

static void
add_networks(const struct conn *c, struct buf *where)
{
	const struct conf	*conf = c->http->conf;
	const struct conf_rules	*rules = rules_of(c->request);
	struct buf		 deny = { 0 };

	if (!conf_where(conf, rules, "allow", CONF_WHERE_ALL, where) &&
	    rules->status != 0)
		conf_where(conf, rules, "status", CONF_WHERE_ALL, where);
	if (conf_where(conf, rules, "deny", CONF_WHERE_ALL, &deny))
		buf_addf(where, "%s%s", where->len > 0 ? ", " : "",
		    buf_string(&deny));
	buf_free(&deny);
}

static void
add_status(struct explanation *e, const struct conn *c)
{
	const struct request	*r = c->request;
	const char		*reason = reply_reason(r, r->response.status);
	const char		*directive = why_directive(r->response.why);
	struct buf		 where = { 0 };

	explain_add(e, EXPLAIN_STATUS, "%d %s", r->response.status,
	    status_reason(r->response.status));
	if (*reason == '\0')
		return;
	if (add_files_block(c, &where))
		;
	else if (r->response.why == WHY_NETWORK)
		add_networks(c, &where);
	else if (*directive != '\0')
		conf_where(c->http->conf, rules_of(r), directive,
		    CONF_WHERE_ALL, &where);
	explain_add(e, EXPLAIN_WHY, "%s%s%s", reason,
	    where.len > 0 ? ": " : "", buf_string(&where));
	buf_free(&where);
}

static void
explain_request(const struct client_kind *kind, const struct conn *c)
{
	struct explanation	*e = (struct explanation *)(uintptr_t)kind;

	add_site(e, c);
	add_path(e, c);
	add_file(e, c);
	add_page(e, c);
	add_status(e, c);
}

struct session *
explain_new(struct http_loop *http, struct explanation *e,
    const struct sockaddr *peer, size_t listener)
{
	e->kind.request_ended = explain_request;
	e->kind.no_files = true;
	return machine_new(http, &e->kind, peer, listener);
}

/* Adds the lines behind the status line; padding of a value is left out. */
static void
print_header(const struct explanation *e, struct buf *out)
{
	const char	*at = e->head.at, *value;

	while (at != NULL && (at = strchr(at, '\n')) != NULL) {
		at++;
		value = at + strcspn(at, ":\r");
		if (*value != ':')
			break;
		value++;
		buf_addf(out, "%-10s%.*s ", fact_names[EXPLAIN_HEADER],
		    (int)(value - at), at);
		value += strspn(value, " ");
		buf_addf(out, "%.*s\n", (int)strcspn(value, "\r"), value);
	}
}

void
explain_print(const struct explanation *e, FILE *out)
{
	struct buf	text = { 0 };

	for (int i = 0; i < EXPLAIN_FACT_COUNT; i++)
		if (e->facts[i].len > 0)
			buf_add(&text, e->facts[i].at, e->facts[i].len);
	if (e->facts[EXPLAIN_STATUS].len == 0)
		buf_addf(&text, "%-10snone: the connection ends without one\n",
		    fact_names[EXPLAIN_STATUS]);
	print_header(e, &text);
	/* Names and links in the text come from the owners of files. */
	visible_text(text.at, text.len);
	fwrite(text.at, 1, text.len, out);
	buf_free(&text);
}

void
explain_free(struct explanation *e)
{
	buf_free(&e->request);
	buf_free(&e->head);
	for (int i = 0; i < EXPLAIN_FACT_COUNT; i++)
		buf_free(&e->facts[i]);
}
