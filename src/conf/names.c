/*
 * names: values with a grammar of their own: names of sites, paths and
 * response fields.
 *
 * A value is an error unless it fits the grammar exactly.  No function asks a
 * name server.
 */
#include <arpa/inet.h>

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "conf/foreign.h"
#include "conf/setters.h"
#include "conf/variants.h"
#include "lib/mem.h"
#include "lib/str.h"

/* Fields that only the server can set correctly. */
#define OWN_FIELDS(X)							\
	X("Accept-Ranges")						\
	X("Connection")							\
	X("Content-Length")						\
	X("Content-Range")						\
	X("Content-Type")						\
	X("Date")							\
	X("ETag")							\
	X("Last-Modified")						\
	X("Location")							\
	X("Server")							\
	X("Transfer-Encoding")						\
	X("WWW-Authenticate")						\
	X("X-Content-Type-Options")

#define LETTERS	"abcdefghijklmnopqrstuvwxyz"
#define DIGITS	"0123456789"

void
conf_name_add(struct conf_words *words, const char *text)
{
	words->at = mem_grow(words->at, words->n + 1, sizeof(*words->at));
	words->at[words->n++] = mem_string(text);
}

void
conf_name_add_pair(struct conf_pairs *pairs, const struct conf_word *words,
    int64_t number)
{
	pairs->at = mem_grow(pairs->at, pairs->n + 1, sizeof(*pairs->at));
	pairs->at[pairs->n++] = (struct conf_pair){
		mem_string(words[0].text), mem_string(words[1].text), number
	};
}

bool
conf_name_in(const struct conf_words *words, const char *text)
{
	for (size_t i = 0; i < words->n; i++)
		if (strcmp(words->at[i], text) == 0)
			return true;
	return false;
}

void
conf_name_free(struct conf_words *words)
{
	for (size_t i = 0; i < words->n; i++)
		mem_drop(&words->at[i]);
	mem_drop(&words->at);
	words->n = 0;
}

/* An IPv6 address in brackets, as clients send it in Host. */
static bool
is_literal(const char *name, size_t len)
{
	char		host[INET6_ADDRSTRLEN];
	struct in6_addr	addr;

	if (len < 2 || len - 2 >= sizeof(host) || name[len - 1] != ']')
		return false;
	memcpy(host, name + 1, len - 2);
	host[len - 2] = '\0';
	return inet_pton(AF_INET6, host, &addr) == 1;
}

/* A name that clients may ask for; "_" is a word of nginx's. */
static bool
is_host(const char *name, size_t len)
{
	return len > 0 && len < 256 && name[0] != '.' &&
	    name[len - 1] != '.' && strcmp(name, "_") != 0 &&
	    strspn(name, LETTERS DIGITS "-._") == len;
}

/* *.example.org; a star may stand nowhere else. */
static bool
is_wildcard(const char *name, size_t len)
{
	return len > 2 && name[1] == '.' && is_host(name + 2, len - 2);
}

/* Returns what keeps a text from being a site's name, as conf_wrong_fn. */
static const char *
describe_wrong_site(const char *name)
{
	for (const char *c = name; *c != '\0'; c++)
		if ((unsigned char)*c >= 0x80)
			return "\"%s\": a name beyond ASCII is written as "
			    "clients send it, in punycode: xn--..., which "
			    "idn2 prints";
	if (strchr(name, '*') != NULL)
		return "\"%s\" is not a site's name: * stands only in front, "
		    "for all names that end like it: *.example.org";
	if (name[0] == '.')
		return "\"%s\" is not a site's name: for a name and all that "
		    "end like it, write site example.org *.example.org";
	if (strcmp(name, "_") == 0)
		return "\"%s\" is not a site's name: for all other names, "
		    "write site default";
	return "\"%s\" is not a site's name: write a host name, without "
	    "port, or \"default\"";
}

bool
conf_name_site(struct conf_reader *reader, const struct conf_word *word,
    struct conf_words *names)
{
	size_t	len = strlen(word->text);
	char	*name;

	for (char *c = word->text; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	name = word->text;
	if (name[0] == '[' ? is_literal(name, len) :
	    name[0] == '*' ? is_wildcard(name, len) : is_host(name, len)) {
		conf_name_add(names, name);
		return true;
	}
	return conf_error_none(reader, word, describe_wrong_site(name));
}

static bool
has_segment(const char *path, const char *segment)
{
	size_t	len = strlen(segment);

	for (; (path = strchr(path, '/')) != NULL; path++) {
		if (strcspn(path + 1, "/") == len &&
		    memcmp(path + 1, segment, len) == 0)
			return true;
	}
	return false;
}

static bool
has_escape(const char *path)
{
	for (; (path = strchr(path, '%')) != NULL; path++) {
		if (isxdigit((unsigned char)path[1]) &&
		    isxdigit((unsigned char)path[2]))
			return true;
	}
	return false;
}

const char *
conf_name_wrong_path(const char *path)
{
	if (path[0] != '/')
		return "a path begins with /";
	if (path[1] == '\0')
		return "/ is the site itself: write what is within this "
		    "block in the site";
	if (has_segment(path, "") || has_segment(path, ".") ||
	    has_segment(path, ".."))
		return "a path has no empty, . or .. segments";
	if (has_escape(path))
		return "a path is written decoded: the characters themselves";
	return NULL;
}

/* Returns an error of the prefix of a block path: other servers take patterns
 * there, and a rule that is none must not look like one. */
static const char *
find_wrong_prefix(const char *path)
{
	if (strpbrk(path, "*?") != NULL)
		return "a path has no wildcards, and covers all beneath it: "
		    "for files by their names, write a block as "
		    "files *.txt { ... }";
	return conf_name_wrong_path(path);
}

/* A slash at the end changes nothing: a path covers all beneath it. */
char *
conf_name_prefix(struct conf_reader *reader, const struct conf_word *word)
{
	size_t	len = strlen(word->text);

	if (len > 1 && word->text[len - 1] == '/')
		word->text[len - 1] = '\0';
	return conf_error_none(reader, word, find_wrong_prefix(word->text)) ?
	    mem_string(word->text) : NULL;
}

bool
conf_name_is_token(const char *name, size_t len)
{
	static const char	others[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)name[i]) &&
		    strchr(others, name[i]) == NULL)
			return false;
	}
	return len > 0;
}

static bool
is_own(const char *name)
{
	static const char *const	own[] = {
#define X(field) field,
		OWN_FIELDS(X)
#undef X
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (strcasecmp(own[i], name) == 0)
			return true;
	}
	return false;
}

/* Words that name a part of directive header. */
static bool
is_verb(const char *name)
{
	return strcmp(name, "add") == 0 || strcmp(name, "set") == 0 ||
	    strcmp(name, "remove") == 0;
}

/* Returns an error of a colon behind a field's name, or of what Caddy has in
 * front of it; the latter names are legal, but are surely mistakes. */
const char *
conf_name_wrong_sign(const char *name)
{
	const char	*colon = strchr(name, ':');

	return colon != NULL && colon[1] == '\0' ? "\"%s\" is not a field's "
	    "name: write it without the colon" :
	    name[0] == '/' || name[0] == '@' ? "\"%s\" is not a field's "
	    "name: write path /PREFIX { header NAME VALUE }" :
	    name[0] == '-' ? "\"%s\" is not a field's name: write header "
	    "remove NAME, in a path" :
	    name[0] == '+' ? "\"%s\" is not a field's name: write header add "
	    "NAME VALUE" : NULL;
}

const char *
conf_name_wrong_field(const char *name)
{
	return conf_name_wrong_sign(name) != NULL ? conf_name_wrong_sign(name) :
	    !conf_name_is_token(name, strlen(name)) || is_verb(name) ?
	    "\"%s\" is not a field's name" :
	    is_own(name) ? "%s is set by the server itself" : NULL;
}

/* The first subtag has letters only.  Each has 8 characters at most, and the
 * last is no single one, which lookups never come to. */
const char *
conf_name_wrong_language(const char *name)
{
	struct str	rest = str_of(name), subtag = { NULL, 0 };
	bool		is_first = true, is_tag = rest.len > 0 &&
			    rest.len <= CONF_LANGUAGE_MAX;

	while (is_tag && rest.len > 0) {
		is_tag = rest.at[rest.len - 1] != '-';
		subtag = str_cut(&rest, '-');
		is_tag = is_tag && subtag.len > 0 && subtag.len <= 8;
		for (size_t i = 0; i < subtag.len; i++)
			is_tag = is_tag && (is_first ?
			    isalpha((unsigned char)subtag.at[i]) :
			    isalnum((unsigned char)subtag.at[i])) != 0;
		is_first = false;
	}
	return is_tag && subtag.len > 1 ? NULL : "\"%s\" is not a language: "
	    "write en or pt-BR";
}

/* The lexer lets no control byte but tabs into a word. */
bool
conf_name_set_field(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *words, void *member)
{
	if ((!words[0].quoted &&
	    conf_foreign_error(reader, row->word, &words[0])) ||
	    !conf_error_none(reader, words,
	    conf_name_wrong_field(words[0].text)))
		return false;
	conf_name_add_pair(member, words, 0);
	return true;
}
