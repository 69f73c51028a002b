/*
 * explain: reads facts off a request when it ends.
 *
 * Must not decide anything: it reports decisions of the steps.
 */
#include <stdarg.h>
#include <string.h>

#include "conf/where.h"
#include "http/authorize.h"
#include "http/conn.h"
#include "http/explain.h"
#include "http/namespace.h"
#include "http/variants/filtered.h"
#include "http/variants/variant.h"
#include "http/log/refusal.h"
#include "http/programs/environment.h"
#include "http/programs/run.h"
#include "http/rules.h"
#include "http/variants/language.h"
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

/* Adds the blocks files whose fields the response has. */
static void
add_blocks(struct explanation *e, const struct conn *c)
{
	const struct request	*r = c->request;
	const struct conf_files	*files;
	struct buf		 where = { 0 };

	if (r->file == NULL)
		return;
	for (size_t i = 0; i < r->site->nfiles; i++) {
		files = &r->site->files[i];
		if ((files->fields.bit & r->info.blocks) == 0)
			continue;
		where.len = 0;
		conf_where_files(c->http->conf, &files->guard, &where);
		explain_add(e, EXPLAIN_FILES, "%s", buf_string(&where) +
		    strlen("files "));
	}
	buf_free(&where);
}

static void
add_file(struct explanation *e, const struct conn *c)
{
	const struct file	*f = c->request->file;
	const struct namespace	*kind;
	const char		*coding, *of, *in, *language;
	char			 date[DATE_LENGTH];

	if (f == NULL)
		return;
	kind = namespace_get(c->request->path->namespace);
	coding = kind->coding;
	of = coding != NULL ? " of " : "";
	language = language_of(c->request->path);
	in = language != NULL ? " in " : "";
	if (variant_has_query(c->request->path->namespace)) {
		explain_add(e, EXPLAIN_FILE, "made by filters, %lld bytes%s%s, "
		    "%s tag", (long long)f->version.size, of,
		    coding != NULL ? coding : "", f->strong ? "strong" :
		    "weak");
		return;
	}
	if (file_is_made(f) && kind->job != JOB_RESOLVE) {
		explain_add(e, EXPLAIN_FILE, "made of the %s, %lld bytes%s%s",
		    coding != NULL ? "file" : "directory",
		    (long long)f->version.size, of,
		    coding != NULL ? coding : "");
		return;
	}
	date_format((time_t)f->version.mtime, date);
	explain_add(e, EXPLAIN_FILE, "%lld bytes%s%s%s%s, modified %.*s, "
	    "%s tag", (long long)f->version.size, of,
	    coding != NULL ? coding : "", in, language != NULL ? language : "",
	    (int)sizeof(date), date, f->strong ? "strong" : "weak");
}

/* Adds the chains that the answer of a program would pass through, by its type
 * and name. */
static void
add_filters_of_answers(struct explanation *e, const struct conn *c)
{
	const struct conf_chains *chains = &rules_of(c->request)->chains;
	const struct conf_chain_use *use = chains->list;
	struct buf		 text = { 0 };

	for (size_t i = 0; i < chains->n && chains->nparameters == 0; i++,
	    use++) {
		buf_addf(&text, "%s%s%s%s", i > 0 ? "; " : "",
		    use->chain->name, use->pattern != NULL ? " for " : "",
		    use->pattern != NULL ? use->pattern : "");
		for (size_t k = 0; k < use->chain->n; k++)
			buf_addf(&text, "%s %s", k > 0 ? "," : ":",
			    use->chain->list[k]->name);
	}
	if (text.len > 0)
		explain_add(e, EXPLAIN_FILTERS, "%s; an answer that passes has "
		    "no tag", buf_string(&text));
	buf_free(&text);
}

/* The chain that a result has passed through, or that the file would. */
static const struct conf_chain *
find_chain(const struct conn *c)
{
	const struct request	*r = c->request;
	const struct conf_chain	*chain;
	struct str		 name, rest;
	struct buf		 text = { 0 };

	if (variant_has_query(r->path->namespace))
		return filtered_chain_of(c->http->conf, r->file);
	rest = rules_raw(r->path);
	while (rest.len > 0)
		name = str_cut(&rest, '/');
	buf_add(&text, name.at, name.len);
	chain = conf_chain_of_file(r->path->rules, buf_string(&text),
	    r->info.type);
	buf_free(&text);
	return chain;
}

/* Adds the chain that the file has passed through, or that it would pass
 * through; one for names of files is not known by the name of a directory. */
static void
add_filters(struct explanation *e, const struct conn *c)
{
	const struct request	*r = c->request;
	const struct conf_chain	*chain;
	struct buf		 text = { 0 };
	bool			 is_result;

	if (r->file == NULL)
		return;
	is_result = variant_has_query(r->path->namespace);
	if (!is_result && (r->info.variants & NAMESPACE_FILTERED_BIT) == 0)
		return;
	chain = find_chain(c);
	for (size_t i = 0; chain != NULL && i < chain->n; i++)
		buf_addf(&text, "%s %s", i > 0 ? "," : ":",
		    chain->list[i]->name);
	if (!is_result)
		buf_adds(&text, r->lookup.unfiltered ? "; without a result, so "
		    "this is the unchanged file" : "; not without a query");
	explain_add(e, EXPLAIN_FILTERS, "%s%s", chain != NULL ? chain->name :
	    "a chain", buf_string(&text));
	buf_free(&text);
}

/* Adds what a program is, as its block has it. */
static void
print_program(const struct conf_program *program, struct buf *to)
{
	const struct conf_words	*servers = &program->servers;

	if (program->protocol != CONF_CGI)
		buf_adds(to, program->protocol == CONF_SCGI ? "scgi " :
		    "fastcgi ");
	buf_adds(to, program->directory != NULL ? program->directory :
	    servers->n > 0 ? servers->at[0] : program->command.at[0]);
	for (size_t i = 1; i < servers->n; i++)
		buf_addf(to, ", %s", servers->at[i]);
}

/* Adds the programs that other requests for the path are put to. */
static void
add_authorizers(struct explanation *e, const struct conn *c)
{
	const struct request	*r = c->request;
	const struct conf_guard	*guard;
	struct buf		 text = { 0 };
	char			 decoded[JOB_PATH_MAX];
	size_t			 number = 0;

	if (r->path == NULL || !r->path->guarded || r->page.status != 0)
		return;
	rules_decode(r->path, decoded);
	for (; (guard = authorize_find_program(r, decoded, &number)) != NULL;
	    number++) {
		text.len = 0;
		print_program(guard->authorizer, &text);
		buf_adds(&text, ", by ");
		conf_where(c->http->conf, guard->authorize_from, "authorize",
		    CONF_WHERE_ALL, &text);
		explain_add(e, EXPLAIN_AUTHORIZE, "%s: %s",
		    guard->authorizer->name, buf_string(&text));
	}
	buf_free(&text);
}

static void
add_program(struct explanation *e, const struct conn *c)
{
	const struct run		*run = c->request->run;
	const struct conf_program	*program;
	struct buf			 texts = { 0 };

	if (run == NULL)
		return;
	program = run->program;
	print_program(program, &texts);
	explain_add(e, EXPLAIN_PROGRAM, "%s: %s%s%s",
	    refusal_program(c->request), buf_string(&texts),
	    run->file == NULL ? "" : program->directory == NULL ? " for " :
	    "/", run->file != NULL ? run->file : "");
	texts.len = 0;
	environment_add(c, &texts);
	for (size_t at = 0; at < texts.len; at += strlen(texts.at + at) + 1)
		explain_add(e, EXPLAIN_VARIABLE, "%s", texts.at + at);
	buf_free(&texts);
	add_filters_of_answers(e, c);
}

static void
add_page(struct explanation *e, const struct conn *c)
{
	const struct request	*r = c->request;
	struct buf		 where = { 0 };

	if (r->page.name == NULL)
		return;
	refusal_add_page(c, &where);
	explain_add(e, EXPLAIN_PAGE, "%s, by %s%s", r->page.name,
	    buf_string(&where), r->file != NULL || r->run != NULL ? "" :
	    "; that page cannot be had either");
	buf_free(&where);
}

static void
add_status(struct explanation *e, const struct conn *c)
{
	const struct request	*r = c->request;
	const char		*reason;
	struct buf		 where = { 0 };

	reason = refusal_reason(r, r->response.status);
	explain_add(e, EXPLAIN_STATUS, "%d %s", r->response.status,
	    status_reason(r->response.status));
	if (*reason == '\0')
		return;
	refusal_add_where(c, &where);
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
	add_authorizers(e, c);
	add_blocks(e, c);
	add_file(e, c);
	add_filters(e, c);
	add_program(e, c);
	add_page(e, c);
	add_status(e, c);
}

struct session *
explain_new(struct http_loop *http, struct explanation *e,
    const struct sockaddr *peer, size_t listener)
{
	e->kind.request_ended = explain_request;
	e->kind.no_files = true;
	http->results_from = INT64_MAX;	/* explaining writes no result */
	return machine_new(http, &e->kind, peer, listener);
}

/* Adds the lines behind the status line; padding of a value is left out. */
static void
print_header(const struct explanation *e, struct buf *out)
{
	const char	*at = e->head.at, *value;
	size_t		 len;

	while (at != NULL && (at = strchr(at, '\n')) != NULL) {
		at++;
		value = at + strcspn(at, ":\r");
		if (*value != ':')
			break;
		value++;
		buf_addf(out, "%-10s%.*s ", fact_names[EXPLAIN_HEADER],
		    (int)(value - at), at);
		value += strspn(value, " ");
		len = strcspn(value, "\r");
		while (len > 0 && value[len - 1] == ' ')
			len--;
		buf_addf(out, "%.*s\n", (int)len, value);
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
