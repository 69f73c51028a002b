/*
 * filtered: names, versions and variables of filtered files.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/chain.h"
#include "http/conn.h"
#include "http/variants/filtered.h"
#include "http/variants/dependencies.h"
#include "http/variants/language.h"
#include "http/variants/variant.h"
#include "http/rules.h"
#include "lib/compiler.h"
#include "lib/hash.h"
#include "stats/chain_stats.h"

/* The key is no secret: a result has the same tag after a restart. */
static const struct hash_key	no_key = { 0, 0 };

/* The last segment of the file that a job has found, without a language. */
static void
find_name(const struct path *p, const struct job *job, struct buf *to)
{
	const char	*slash = strrchr(job->find.path, '/');

	buf_adds(to, slash != NULL ? slash + 1 : job->find.path);
	buf_adds(to, job_found_name(job));
	language_cut(p, to);
}

const struct conf_chain *
filtered_chain(const struct path *p, const struct job *job, const char *type)
{
	const struct conf_rules	*rules = p->rules;
	const struct conf_chain	*chain;
	struct buf		 name = { 0 };

	if (rules->chains.n == 0)
		return NULL;
	find_name(p, job, &name);
	chain = conf_chain_of_file(rules, buf_string(&name), type);
	buf_free(&name);
	return chain;
}

/*
 * Queries
 */

static const struct conf_chains *
get_chains(const struct path *p)
{
	return &((const struct conf_rules *)p->rules)->chains;
}

/* The query of a request for which parameters count; len 0: none. */
static struct str
get_query(const struct conn *c)
{
	const struct request	*r = c->request;

	if (!filtered_takes_query(r->path) || r->page.name != NULL)
		return (struct str){ NULL, 0 };
	return parse_str(c->input, r->parse.query);
}

bool
filtered_is_wanted(const struct conn *c)
{
	return !c->request->lookup.unfiltered &&
	    (!filtered_takes_query(c->request->path) ||
	    get_query(c).len > 0);
}

static unsigned
count_pairs(struct str query)
{
	unsigned	n = 0;

	for (; query.len > 0; n++)
		str_cut(&query, '&');
	return n;
}

/* Finds a value in a query; false: it is not there, or twice. */
static bool
find_value(struct str query, const char *name, struct str *value)
{
	struct str	pair;
	unsigned	n = 0;

	while (query.len > 0) {
		pair = str_cut(&query, '&');
		if (!str_same(str_cut(&pair, '='), str_of(name)))
			continue;
		*value = pair;
		n++;
	}
	return n == 1;
}

/* Adds the value of a parameter as it is always written; false: it is out of
 * bounds. */
static bool
add_value(const struct conf_parameter *p, struct str value, struct buf *to)
{
	int64_t	number;

	for (size_t i = 0; i < p->words.n; i++)
		if (str_same(value, str_of(p->words.at[i]))) {
			buf_add(to, value.at, value.len);
			return true;
		}
	if (p->words.n > 0 || !str_number(value, &number) ||
	    number < p->lowest || number > p->highest)
		return false;
	buf_addf(to, "%" PRId64, number);
	return true;
}

/* Adds the query, with its parameters in the order of the conf. */
static bool
add_query(const struct conf_chains *chains, struct str query, struct buf *to)
{
	const struct conf_parameter	*p = chains->parameters;
	struct str			 value;
	unsigned			 n = 0;

	for (size_t i = 0; i < chains->nparameters; i++, p++) {
		if (!find_value(query, p->name, &value))
			continue;
		buf_addf(to, "%s%s=", n++ == 0 ? "?" : "&", p->name);
		if (!add_value(p, value, to))
			return false;
	}
	return n > 0 && n == count_pairs(query);
}

enum why
filtered_add_name(const struct conn *c, struct buf *to)
{
	const struct path	*p = c->request->path;
	struct str		 query = get_query(c);

	buf_add(to, p->name, p->len);
	return query.len == 0 || add_query(get_chains(p), query, to) ?
	    WHY_NONE : WHY_FILTER_QUERY;
}

/* The query in the name of a result; "": none. */
static struct str
query_of_name(const struct path *p)
{
	struct str	name = { p->name, p->len };

	str_cut(&name, '?');
	return name;
}

bool
filtered_has_query(const struct path *p)
{
	return variant_has_query(p->namespace) && query_of_name(p).len > 0;
}

/*
 * Versions
 */

static void
add_file(struct buf *text, const char *file)
{
	if (file[0] == '/')
		buf_add(text, file, strlen(file) + 1);
}

/* Words behind the first may be files, too: scripts, modules. */
static void
add_words(struct buf *text, const struct conf_words *command)
{
	for (size_t k = 0; k < command->n; k++)
		add_file(text, command->at[k]);
}

static void
add_files(struct buf *text, const struct conf_chain *chain)
{
	const struct conf_program	*filter;

	for (size_t i = 0; i < chain->n; i++) {
		filter = chain->list[i];
		add_words(text, &filter->command);
		if (filter->application != NULL)
			add_words(text, &filter->application->command);
	}
}

static void
add_noted(const char *file, void *text)
{
	add_file(text, file);
}

/* A job has room for so many bytes of names.  Which chain the file has is not
 * known before its name and type are: all chains count. */
bool
filtered_add_others(struct http_loop *http, const struct path *p,
    struct buf *text, uint64_t *of)
{
	const struct conf_chains	*chains = get_chains(p);
	struct job_version		 present;
	size_t				 start = text->len, noted;

	for (size_t i = 0; i < chains->n; i++)
		add_files(text, chains->list[i].chain);
	if (text->len - start > JOB_PATH_MAX / 2)
		text->len = start;
	noted = text->len;
	*of = path_info_version(&http->caches->paths, p, &present) ?
	    present.ino : dependencies_kept(http->caches->dependencies,
	    p->namespace, (struct str){ p->name, p->len });
	if (*of != 0)
		dependencies_each(http->caches->dependencies, *of, add_noted,
		    text);
	return text->len > noted;
}

struct job_version
filtered_version(const struct path *p, const struct job_version *of,
    const struct conf_chain *chain, uint64_t sum)
{
	struct job_version	 v = *of;
	struct str		 query = query_of_name(p);
	const struct conf_words	*command;
	/* Before the last start a chain may have made other bytes, of a result
	 * whose tag is that of its version. */
	const uint64_t		 of_file[] = { v.ino, (uint64_t)v.ctime,
				    chain_stats_start() };
	struct buf		 all = { 0 };
	const char		*word;

	for (size_t i = 0; i < chain->n; i++) {
		command = &chain->list[i]->command;
		for (size_t k = 0; k < command->n; k++) {
			word = command->at[k];
			buf_add(&all, word, strlen(word) + 1);
		}
	}
	buf_add(&all, query.at, query.len);
	buf_add(&all, (const char *)of_file, sizeof(of_file));
	v.ctime = filtered_mark(chain, 0);
	v.ino = hash_bytes(&no_key, sum, all.at, all.len);
	buf_free(&all);
	return v;
}

/*
 * Marks: variants of a result have its ctime, too
 */

static size_t
chain_of_mark(int64_t mark)
{
	return (size_t)((uint64_t)mark >> 32);
}

const struct conf_chain *
filtered_chain_of(const struct conf *conf, const struct file *f)
{
	return &conf->chains[chain_of_mark(f->version.ctime)];
}

int64_t
filtered_mark(const struct conf_chain *chain, uint64_t reloads)
{
	return (int64_t)((uint64_t)chain->number << 32 | (uint32_t)reloads);
}

bool
filtered_counts(int64_t mark)
{
	return chain_stats_reloaded(chain_of_mark(mark)) <= (uint32_t)mark;
}

/* Whether a path that has no result is to be looked up again.  A failure
 * belongs to no chain. */
static COLD bool
is_outlived(const struct conn *c)
{
	const struct path_info	*a = &c->request->info;

	return a->checked_at <= chain_stats_reloaded_at() ||
	    (a->why == WHY_FILTER_LEFT_OUT &&
	    c->http->clock->ms - a->checked_at > FILTERED_RENEW_MS);
}

/* Even a result from before the last reload can be used by a request that has
 * waited since before that reload. */
bool
filtered_is_unusable(const struct conn *c)
{
	const struct request	*r = c->request;
	int64_t			 mark;

	if (r->info.kind != PATHNAME_FILE)
		return !r->lookup.done && is_outlived(c);
	mark = r->file->version.ctime;
	return (uint32_t)mark < r->lookup.reloads && !filtered_counts(mark);
}

void
filtered_count_hit(const struct conn *c)
{
	chain_stats_add(chain_of_mark(c->request->file->version.ctime),
	    CHAIN_STATS_HITS);
}

/*
 * Variables
 */

void
filtered_add_variable(struct buf *to, const char *name, struct str value)
{
	buf_addf(to, "%s=", name);
	buf_add(to, value.at, value.len);
	buf_addc(to, '\0');
}

void
filtered_add_length(struct buf *to, int64_t length)
{
	char	number[24];

	snprintf(number, sizeof(number), "%" PRId64, length);
	filtered_add_variable(to, "CONTENT_LENGTH", str_of(number));
}

void
filtered_add_place(struct buf *to, const struct filtered_place *place)
{
	struct buf	file = { 0 };
	struct str	prefix = place->uri, beneath = place->uri;

	filtered_add_variable(to, "DOCUMENT_URI", place->uri);
	prefix.len = place->skip;
	filtered_add_variable(to, "SCRIPT_NAME", prefix);
	if (place->root == NULL || place->root[0] != '/')
		return;
	str_skip(&beneath, place->skip);
	buf_adds(&file, place->root);
	buf_add(&file, beneath.at, beneath.len);
	filtered_add_variable(to, "DOCUMENT_ROOT", str_of(place->root));
	filtered_add_variable(to, "PATH_TRANSLATED", str_of(buf_string(&file)));
	buf_free(&file);
}

void
filtered_add_environment(struct buf *to, const struct path *p,
    const struct rules_place *place, const char *type, const struct job *job)
{
	struct buf		uri = { 0 }, root = { 0 };
	struct filtered_place	at = { .root = NULL };

	buf_add(&uri, place->name.at + place->host,
	    place->name.len - place->host);
	buf_string(&uri);
	language_cut_path(p, uri.at);
	uri.len = strlen(uri.at);
	buf_adds(&uri, job_found_name(job));
	at.uri = (struct str){ uri.at, uri.len };
	at.skip = place->skip > place->host ? place->skip - place->host : 0;
	if (job->find.user == NULL) {
		buf_adds(&root, place->root);
		buf_add(&root, place->name.at, place->host);
		at.root = buf_string(&root);
	}
	filtered_add_variable(to, "QUERY_STRING", query_of_name(p));
	filtered_add_length(to, job->find.version.size);
	if (type != NULL)
		filtered_add_variable(to, "CONTENT_TYPE", str_of(type));
	filtered_add_place(to, &at);
	buf_free(&uri);
	buf_free(&root);
}
