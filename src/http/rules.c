/*
 * rules: what the rules of the conf say of a target.
 *
 * Lookups call these functions, requests do not: results are kept with the
 * path.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/namespace.h"
#include "http/rules.h"
#include "http/variants/variant.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "proto/mime.h"
#include "proto/uri.h"
#include "proto/why.h"

#define CACHE_CONTROL	STR("Cache-Control")
#define HOST_MAX	253		/* bytes (RFC 1035, section 2.3.4) */

/* Media types that are text or compress as well as text. */
static const char *const compressible[] = {
	"text/*", "application/atom+xml", "application/javascript",
	"application/json", "application/ld+json",
	"application/manifest+json", "application/rss+xml",
	"application/rtf", "application/wasm", "application/x-javascript",
	"application/x-ndjson", "application/xhtml+xml", "application/xml",
	"application/vnd.ms-fontobject", "font/otf", "font/ttf", "image/bmp",
	"image/svg+xml", "image/vnd.microsoft.icon", "image/x-icon"
};

static void
set_info(struct http_loop *http, struct path *p, enum pathname_kind kind,
    int status, enum why why)
{
	path_info_set(&http->caches->paths, p, &(struct path_info){
	    .kind = (uint8_t)kind, .status = (uint16_t)status,
	    .why = (uint8_t)why, .checked_at = http->clock->ms });
}

/* The rules of the block that says what runs: their own, or the site's. */
static const struct conf_rules *
get_run_rules(const struct conf_rules *rules)
{
	return rules->outer != NULL && rules->run.named.n == 0 &&
	    rules->run.cgi == NULL ? rules->outer : rules;
}

const struct conf_program *
rules_directory_program(const struct conf_rules *rules)
{
	const struct conf_program	*program = conf_program_of_all(rules);

	return program != NULL && program->directory != NULL ? program : NULL;
}

bool
rules_need_no_file(const struct conf_rules *rules)
{
	return conf_program_of_all(rules) != NULL &&
	    rules_directory_program(rules) == NULL;
}

/* The rules of users' directories, or NULL. */
static const struct conf_users *
get_users(const struct conf_rules *rules)
{
	const struct conf_users	*users = &rules->action->users;

	return users->directory != NULL ? users : NULL;
}

struct str
rules_user(const struct conf_rules *rules, struct str decoded)
{
	struct str	none = { NULL, 0 };

	if (get_users(rules) == NULL || decoded.len < 2 ||
	    decoded.at[1] != '~' || rules_directory_program(rules) != NULL)
		return none;
	return (struct str){ decoded.at + 2,
	    strcspn(decoded.at + 2, "/") };
}

static bool
is_denied_user(const struct conf_users *users, struct str name)
{
	for (size_t i = 0; i < users->deny.n; i++)
		if (str_same(str_of(users->deny.at[i]), name))
			return true;
	return false;
}

/* Sets what a user's path is if the user need not be looked up. */
static bool
resolve_user(struct http_loop *http, struct path *p, struct str decoded)
{
	struct str	name = rules_user(p->rules, decoded);

	if (name.at == NULL)
		return false;
	if (!conf_user_is_valid(name.at, name.len))
		set_info(http, p, PATHNAME_REFUSED, 404, WHY_NONE);
	else if (name.len + 2 == decoded.len)	/* of any user */
		set_info(http, p, PATHNAME_DIRECTORY, 0, WHY_NONE);
	else if (is_denied_user(get_users(p->rules), name))
		set_info(http, p, PATHNAME_REFUSED, 404, WHY_DENIED_USER);
	else
		return false;
	return true;
}

/* Sets what a path of a block is that main answers itself: the answer has the
 * block's own path, with a slash or without; there is nothing beneath it. */
static void
resolve_own(struct http_loop *http, struct path *p, struct str decoded,
    enum pathname_kind kind)
{
	size_t	prefix = ((const struct conf_rules *)p->rules)->prefix_len;

	if (decoded.len <= prefix + 1) {
		set_info(http, p, kind, 0, WHY_NONE);
		return;
	}
	set_info(http, p, PATHNAME_REFUSED, 404, WHY_ABSENT);
}

/* Whether a host can be the name of a directory. */
static bool
is_name(struct str host)
{
	static const char	others[] = "0123456789-.";
	char			before = '.', lower;

	for (size_t i = 0; i < host.len; i++) {
		lower = host.at[i] | 0x20;
		if ((lower < 'a' || lower > 'z') && memchr(others, host.at[i],
		    sizeof(others) - 1) == NULL)
			return false;
		if (host.at[i] == '.' && before == '.')
			return false;
		before = host.at[i];
	}
	return host.len > 0 && host.len <= HOST_MAX && before != '.';
}

struct str
rules_add_name(struct buf *to, struct str host, struct str raw)
{
	size_t	start = to->len, len = is_name(host) ? host.len : 0;
	char	c;

	buf_addc(to, '/');
	for (size_t i = 0; i < len; i++) {
		c = host.at[i];
		buf_addc(to, c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c);
	}
	buf_add(to, raw.at, raw.len);
	return (struct str){ to->at + start, to->len - start };
}

/* Bytes in front of the raw target: / and the host. */
static size_t
host_bytes(const struct path *p)
{
	const struct conf_rules	*rules = p->rules;
	const char		*end;

	if (rules == NULL || !rules->some_by_host)
		return 0;
	end = memchr(p->name + 1, '/', p->len - 1);
	need(end != NULL);
	return (size_t)(end - p->name);
}

struct str
rules_raw(const struct path *p)
{
	size_t		n = host_bytes(p);
	struct str	raw = { p->name + n, p->len - n }, rest = raw;

	/* Behind that stands the query that has chosen a result. */
	return variant_has_query(p->namespace) ? str_cut(&rest, '?') : raw;
}

/* Names of a path info, which name no file, may begin with a dot. */
static bool
is_resolved(enum why why)
{
	return why == WHY_NONE || why == WHY_HIDDEN;
}

size_t
rules_decode(const struct path *p, char decoded[JOB_PATH_MAX])
{
	size_t	len;

	need(is_resolved(uri_resolve(rules_raw(p), decoded, JOB_PATH_MAX,
	    &len)));
	return len;
}

/* Whether the host says where a decoded path is on disk. */
static bool
is_by_host(const struct conf_rules *rules, struct str name)
{
	return rules->action->by_host && rules_user(rules, name).at == NULL &&
	    rules_directory_program(rules) == NULL;
}

bool
rules_is_usual(const struct path *p)
{
	char		 decoded[JOB_PATH_MAX];
	size_t		 len = rules_decode(p, decoded), host = host_bytes(p);
	struct str	 name = { decoded, len };
	char		*usual = mem_get(3 * len + 1);
	struct str	 as_usual = { usual, uri_encode(name, usual) };
	bool		 is = str_same((struct str){ p->name + host,
			    p->len - host }, as_usual);

	free(usual);
	return is && (host <= 1 || is_by_host(p->rules, name));
}

void
rules_locate(const struct path *p, char text[JOB_PATH_MAX],
    struct rules_place *place)
{
	const struct conf_rules	*rules = p->rules;
	size_t			 host = host_bytes(p), len;

	need(is_resolved(uri_resolve(rules_raw(p), text + host,
	    JOB_PATH_MAX - host, &len)));
	place->name = (struct str){ text + host, len };
	place->host = 0;
	place->root = rules_root(rules, place->name, &place->skip);
	if (!is_by_host(rules, place->name))
		return;
	memcpy(text, p->name, host);
	place->name = (struct str){ text, host + len };
	place->host = host;
}

/* Sets what a path is if an action other than a root says it. */
static bool
resolve_action(struct http_loop *http, struct path *p, struct str decoded)
{
	const struct conf_rules	*rules = p->rules, *a = rules->action;

	if (a->redirect.to != NULL) {
		set_info(http, p, PATHNAME_REDIRECT, (int)a->redirect.status,
		    WHY_NONE);
		return true;
	}
	if (a->refusal != 0) {
		set_info(http, p, PATHNAME_REFUSED, (int)a->refusal,
		    WHY_RETURN);
		return true;
	}
	if (a->status == 0 && a->ready == 0)
		return false;
	resolve_own(http, p, decoded, a->status != 0 ? PATHNAME_STATS_PAGE :
	    PATHNAME_READY);
	return true;
}

/* Sets what a path of a program that runs for each path is, if that needs no
 * look at the disk. */
static bool
resolve_program(struct http_loop *http, struct path *p, struct str decoded)
{
	size_t	prefix = get_run_rules(p->rules)->prefix_len;

	if (rules_directory_program(p->rules) == NULL)
		set_info(http, p, PATHNAME_PROGRAM, (int)prefix, WHY_NONE);
	else if (prefix > 0 && decoded.len == prefix)
		set_info(http, p, PATHNAME_REFUSED, why_status(WHY_NO_INDEX),
		    WHY_NO_INDEX);
	else
		return false;
	return true;
}

bool
rules_resolve(struct http_loop *http, struct path *p, struct str decoded)
{
	const struct conf_rules	*rules = p->rules, *a = rules->action;
	bool			 runs = conf_program_of_all(rules) != NULL;

	/* A program of the path's own stands before an action of the site. */
	if ((!runs || a == rules || get_run_rules(rules) != rules) &&
	    resolve_action(http, p, decoded))
		return true;
	if (runs)
		return resolve_program(http, p, decoded);
	if (a->alias != NULL && decoded.len == a->prefix_len) {
		set_info(http, p, PATHNAME_DIRECTORY, 0, WHY_NONE);
		return true;
	}
	if (a->by_host && host_bytes(p) == 1) {
		set_info(http, p, PATHNAME_REFUSED, 404, WHY_HOST);
		return true;
	}
	return resolve_user(http, p, decoded);
}

const char *
rules_root(const struct conf_rules *rules, struct str decoded, size_t *skip)
{
	const struct conf_program	*program;
	const struct conf_rules		*a = rules->action;
	struct str			 user = rules_user(rules, decoded);

	program = rules_directory_program(rules);
	if (program != NULL) {
		*skip = get_run_rules(rules)->prefix_len;
		return program->directory;
	}
	if (user.at != NULL) {
		*skip = 2 + user.len;
		return get_users(rules)->directory;
	}
	*skip = a->alias != NULL ? a->prefix_len : 0;
	return a->alias != NULL ? a->alias : a->root;
}

const struct conf_words *
rules_index(const struct conf_rules *rules)
{
	return rules->index.n > 0 || rules->outer == NULL ? &rules->index :
	    &rules->outer->index;
}

const struct conf_words *
rules_names(const struct conf_rules *rules, const char *decoded)
{
	static const struct conf_words	 none = { NULL, 0 };
	const struct conf_words		*try = &rules->try;

	if (*(strrchr(decoded, '/') + 1) == '\0')
		return rules_directory_program(rules) != NULL ? &none :
		    rules_index(rules);
	if (try->n == 0 && rules->outer != NULL)
		try = &rules->outer->try;
	return try->n > 0 && strcmp(try->at[0], "off") == 0 ? &none : try;
}

const struct conf_words *
rules_listing(const struct conf_rules *rules)
{
	return rules->listing.n > 0 || rules->outer == NULL ? &rules->listing :
	    &rules->outer->listing;
}

bool
rules_allow_listing(const struct conf_rules *rules)
{
	const struct conf_words	*forms = rules_listing(rules);

	if (rules_directory_program(rules) != NULL)
		return false;
	return conf_find_listing(forms, LISTING_HTML) ||
	    conf_find_listing(forms, LISTING_JSON);
}

const struct conf_words *
rules_precompressed(const struct conf_rules *rules)
{
	return rules->precompressed.n > 0 || rules->outer == NULL ?
	    &rules->precompressed : &rules->outer->precompressed;
}

const struct conf_words *
rules_formats(const struct conf_rules *rules)
{
	return rules->formats.n > 0 || rules->outer == NULL ?
	    &rules->formats : &rules->outer->formats;
}

const struct conf_languages *
rules_languages(const struct conf_rules *rules)
{
	return rules->languages.names.n > 0 || rules->outer == NULL ?
	    &rules->languages : &rules->outer->languages;
}

const struct conf_words *
rules_compress(const struct conf_rules *rules)
{
	return rules->compress.n > 0 || rules->outer == NULL ?
	    &rules->compress : &rules->outer->compress;
}

/* How exactly a pattern matches a media type; 0: not at all. */
static int
match_type(const char *pattern, const char *type)
{
	size_t	main = strcspn(pattern, "/") + 1;
	size_t	len = strcspn(type, ";");

	if (strcmp(pattern, "*/*") == 0)
		return 1;
	if (strcmp(pattern + main, "*") == 0)
		return strncasecmp(pattern, type, main) == 0 ? 2 : 0;
	return strlen(pattern) == len &&
	    strncasecmp(pattern, type, len) == 0 ? 3 : 0;
}

bool
rules_compressible(const struct conf_rules *rules, const char *type)
{
	const struct conf_words	*own = &rules->compressible;

	if (own->n == 0 && rules->outer != NULL)
		own = &rules->outer->compressible;
	for (size_t i = 0; i < own->n; i++)
		if (match_type(own->at[i], type) > 0)
			return true;
	for (size_t i = 0; own->n == 0 &&
	    i < sizeof(compressible) / sizeof(compressible[0]); i++)
		if (match_type(compressible[i], type) > 0)
			return true;
	return false;
}

const char *
rules_fallback(const struct path *p, int status, enum why why)
{
	const struct conf_rules	*rules = p->rules;

	return (status == 404 || why == WHY_NO_INDEX) &&
	    rules->action->refusal == 0 ? rules->fallback : NULL;
}

const struct conf_rules *
rules_of(const struct request *r)
{
	if (r->page.name != NULL)
		return r->page.target_rules;
	if (r->path != NULL && r->path->rules != NULL)
		return r->path->rules;
	if (r->page.target_rules != NULL)
		return r->page.target_rules;
	return r->site != NULL ? &r->site->rules : NULL;
}

/* The page of a block for a status, else for its class, else for all. */
static const char *
find_error_page(const struct conf_pairs *pages, int status)
{
	const int64_t	numbers[] = { status, status / 100, CONF_ERROR_ALL };

	for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
		for (size_t i = 0; i < pages->n; i++)
			if (pages->at[i].number == numbers[n])
				return pages->at[i].value;
	return NULL;
}

/* A name that begins with a dot is refused in any path, and has its rules. */
void
rules_choose(struct conn *c)
{
	struct request	*r = c->request;
	char		 decoded[JOB_PATH_MAX];
	size_t		 len;
	enum why	 why;

	if (r->site == NULL || r->path != NULL || r->page.name != NULL)
		return;
	why = uri_resolve(parse_str(c->input, r->parse.path), decoded,
	    sizeof(decoded), &len);
	if (is_resolved(why))
		r->page.target_rules = conf_find_rules(r->site, decoded,
		    strlen(decoded));
}

const char *
rules_error_page(const struct request *r, int status)
{
	const struct conf_rules	*rules;
	const char		*page = NULL;

	for (rules = rules_of(r); rules != NULL && page == NULL;
	    rules = rules->outer)
		page = find_error_page(&rules->errors, status);
	return page;
}

static const struct conf_pair *
find_best_match(const struct conf_pairs *patterns, const char *type)
{
	const struct conf_pair	*best = NULL;
	int			 n, most = 0;

	for (size_t i = 0; i < patterns->n; i++) {
		n = match_type(patterns->at[i].name, type);
		if (n > most) {
			most = n;
			best = &patterns->at[i];
		}
	}
	return best;
}

int64_t
rules_max_age(const struct conf_rules *rules, const char *type)
{
	const struct conf_pair	*pair = NULL;

	if (!rules->has_expires)
		return -1;
	for (; rules != NULL && pair == NULL; rules = rules->outer)
		pair = find_best_match(&rules->expires, type);
	return pair != NULL ? pair->number : -1;
}

const char *
rules_charset(const struct conf_rules *rules, const char *type)
{
	const struct conf_pair	*pair = NULL;

	if (rules == NULL || strchr(type, ';') != NULL)
		return NULL;
	for (const struct conf_rules *r = rules; r != NULL && pair == NULL;
	    r = r->outer)
		pair = find_best_match(&r->charsets, type);
	if (pair != NULL)
		return strcmp(pair->value, "off") != 0 ? pair->value : NULL;
	return mime_wants_charset(type) ? rules->charset : NULL;
}

/*
 * Blocks files
 */

/* The next block from a number on that has one of these bits; NULL: no more. */
static const struct conf_files *
next_block(const struct conf_site *site, uint16_t blocks, size_t *number)
{
	const struct conf_files	*files;

	while (*number < site->nfiles) {
		files = &site->files[(*number)++];
		if ((files->fields.bit & blocks) != 0)
			return files;
	}
	return NULL;
}

uint16_t
rules_blocks(const struct conf_site *site, const char *name)
{
	const struct conf_files	*files;
	uint16_t		 blocks = 0;

	for (size_t i = 0; (files = next_block(site, UINT16_MAX, &i)) != NULL; )
		for (size_t j = 0; j < files->patterns.n; j++)
			if (fnmatch(files->patterns.at[j], name, 0) == 0)
				blocks |= files->fields.bit;
	return blocks;
}

const char *
rules_type(const struct conf_site *site, uint16_t blocks)
{
	const struct conf_files	*files;

	for (size_t i = 0; (files = next_block(site, blocks, &i)) != NULL; )
		if (files->fields.type != NULL)
			return files->fields.type;
	return NULL;
}

static bool
has_pair(const struct conf_pairs *fields, struct str name)
{
	for (size_t i = 0; i < fields->n; i++)
		if (str_same_nocase(str_of(fields->at[i].name), name))
			return true;
	return false;
}

bool
rules_has_field(const struct conf_site *site, uint16_t blocks,
    struct str field, bool replacing)
{
	const struct conf_files	*files;
	bool			 age = str_same_nocase(field, CACHE_CONTROL);

	for (size_t i = 0; (files = next_block(site, blocks, &i)) != NULL; )
		if (has_pair(&files->fields.set, field) ||
		    (replacing ? age && files->fields.has_expires :
		    has_pair(&files->fields.plain, field)))
			return true;
	return false;
}

int64_t
rules_file_max_age(const struct conf_site *site, uint16_t blocks,
    const struct conf_rules *rules, const char *type)
{
	const struct conf_files	*files;

	if (rules_has_field(site, blocks, CACHE_CONTROL, false))
		return -1;
	for (size_t i = 0; (files = next_block(site, blocks, &i)) != NULL; )
		if (files->fields.has_expires)
			return files->fields.expires / 1000;
	return rules_max_age(rules, type);
}
