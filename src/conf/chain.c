/*
 * chain: values of chains, bounds of queries, and the chain of a file.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "conf/run.h"
#include "lib/mem.h"
#include "lib/str.h"

#define QUERY		"query"		/* behind "by" */
#define PARAMETER_MAX	32		/* bytes of a name, or of a word */
#define BOUNDS_FORM							\
	"bounds of a query are written NAME=LOWEST-HIGHEST or "		\
	"NAME=WORD|WORD, once for each name, with spaces between them"
#define NAME_BYTES	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"0123456789_-"

struct conf_chain *
conf_chain_add(struct conf *conf)
{
	struct conf_chain	*chain;

	conf->chains = mem_grow(conf->chains, conf->nchains + 1,
	    sizeof(*conf->chains));
	chain = &conf->chains[conf->nchains++];
	*chain = (struct conf_chain){ 0 };
	return chain;
}

/* Sets the pattern of the name before it; a further one has a pair of its
 * own. */
bool
conf_chain_set_pattern(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *word, void *member)
{
	const struct conf_pairs	*pairs = member;

	(void)row;
	if (!conf_error_none(reader, word, word->text[0] == '\0' ?
	    "\"%s\" is not a media type, as text/html, nor a pattern of names, "
	    "as *.html" : strcmp(pairs->at[pairs->n - 1].value,
	    CONF_RUN_OFF) == 0 ?
	    "\"chain off\" is for each file: leave \"for\" out" : NULL))
		return false;
	conf_program_add_pattern(member, word->text);
	return true;
}

/*
 * Bounds
 */

static bool
is_name(struct str text)
{
	if (text.len == 0 || text.len > PARAMETER_MAX)
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (strchr(NAME_BYTES, text.at[i]) == NULL)
			return false;
	return true;
}

/* Parses LOWEST-HIGHEST; false: it is none. */
static bool
parse_numbers(struct str text, struct conf_parameter *p)
{
	struct str	lowest = str_cut(&text, '-');

	return str_number(lowest, &p->lowest) &&
	    str_number(text, &p->highest) && p->lowest <= p->highest;
}

/* Parses WORD|WORD; false: it is none.  Numbers in the wrong order are no
 * word. */
static bool
parse_words(struct str text, struct conf_parameter *p)
{
	struct buf	 word = { 0 };
	struct str	 next;

	if (text.len > 0 && strspn(text.at, "0123456789-") >= text.len &&
	    memchr(text.at, '-', text.len) != NULL)
		return false;
	do {
		next = str_cut(&text, '|');
		if (!is_name(next)) {
			conf_name_free(&p->words);
			return false;
		}
		buf_add(&word, next.at, next.len);
		conf_name_add(&p->words, buf_string(&word));
		buf_free(&word);
	} while (text.len > 0);
	return true;
}

/* Parses NAME=...; the name is owned by the caller.  False: it is none. */
static bool
parse_parameter(struct str text, struct conf_parameter *p)
{
	struct str	name = str_cut(&text, '=');
	struct buf	copy = { 0 };

	*p = (struct conf_parameter){ .name = NULL };
	if (!is_name(name) ||
	    !(parse_numbers(text, p) || parse_words(text, p)))
		return false;
	buf_add(&copy, name.at, name.len);
	p->name = mem_string(buf_string(&copy));
	buf_free(&copy);
	return true;
}

static void
free_parameter(struct conf_parameter *p)
{
	mem_drop(&p->name);
	conf_name_free(&p->words);
}

/* Whether bounds are about a parameter. */
static bool
has_parameter(struct str bounds, const char *name)
{
	struct str	next;

	while (bounds.len > 0) {
		next = str_cut(&bounds, ' ');
		if (str_same(str_cut(&next, '='), str_of(name)))
			return true;
	}
	return false;
}

bool
conf_chain_set_by(struct conf_reader *reader, const struct conf_row *row,
    const struct conf_word *words, void *member)
{
	struct str		bounds = str_of(words[1].text), next;
	const struct conf_pairs	*pairs = member;
	struct conf_parameter	p;
	bool			good = bounds.len > 0;

	(void)row;
	if (strcmp(words[0].text, QUERY) != 0 || pairs->n > 0) {
		conf_error(reader, words[0].pos, "\"by\" is followed by "
		    "\"" QUERY "\" and bounds, once in a block");
		return false;
	}
	while (good && bounds.len > 0) {
		next = str_cut(&bounds, ' ');
		good = parse_parameter(next, &p) && !has_parameter(bounds,
		    p.name);
		free_parameter(&p);
	}
	if (!good) {
		conf_error(reader, words[1].pos, "\"%s\": " BOUNDS_FORM,
		    words[1].text);
		return false;
	}
	conf_name_add_pair(member, words, 0);
	return true;
}

void
conf_chain_make_parameters(struct conf_chains *chains)
{
	struct str	bounds;

	if (chains->by.n == 0)
		return;
	bounds = str_of(chains->by.at[0].value);
	while (bounds.len > 0) {
		chains->parameters = mem_grow(chains->parameters,
		    chains->nparameters + 1, sizeof(*chains->parameters));
		parse_parameter(str_cut(&bounds, ' '),
		    &chains->parameters[chains->nparameters++]);
	}
}

void
conf_chain_free(struct conf_chain *chain)
{
	mem_drop(&chain->list);
	mem_drop(&chain->name);
}

void
conf_chain_free_rules(struct conf_rules *rules)
{
	struct conf_chains	*chains = &rules->chains;

	if (chains->from != rules)
		return;
	mem_drop(&chains->list);
	for (size_t i = 0; i < chains->nparameters; i++)
		free_parameter(&chains->parameters[i]);
	mem_drop(&chains->parameters);
}

const struct conf_chain *
conf_chain_of_file(const struct conf_rules *rules, const char *name,
    const char *type)
{
	const struct conf_chain_use	*use = rules->chains.list;
	char				 bare[64];
	size_t				 len;

	if (type != NULL) {
		len = strcspn(type, "; ");
		if (len >= sizeof(bare))
			len = sizeof(bare) - 1;
		memcpy(bare, type, len);
		bare[len] = '\0';
	}
	for (size_t i = 0; i < rules->chains.n; i++, use++)
		if (use->pattern == NULL ||
		    (strchr(use->pattern, '/') == NULL ?
		    fnmatch(use->pattern, name, 0) == 0 :
		    type != NULL && fnmatch(use->pattern, bare, 0) == 0))
			return use->chain;
	return NULL;
}
