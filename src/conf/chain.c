/*
 * chain: blocks chain, which files of rules pass through which, and bounds of
 * queries.
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
	"NAME=WORD|WORD, with spaces between them"
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

/* Parses WORD|WORD; false: it is none. */
static bool
parse_words(struct str text, struct conf_parameter *p)
{
	struct buf	 word = { 0 };
	struct str	 next;

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
		good = parse_parameter(next, &p);
		if (good)
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

static void
make_parameters(struct conf_chains *chains)
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

/*
 * Blocks chain
 */

static const struct conf_origin *
find_origin(struct conf_chain *chain, const char *word, size_t element)
{
	return conf_origin(conf_object_chain(chain), word == NULL ? NULL :
	    conf_row_find_word(word, BLOCK_CHAIN), element);
}

static struct conf_chain *
find_chain(const struct conf *conf, const char *name)
{
	for (size_t i = 0; i < conf->nchains; i++)
		if (strcmp(conf->chains[i].name, name) == 0)
			return &conf->chains[i];
	return NULL;
}

static void
add_filter(struct conf_reader *reader, struct conf_chain *chain,
    const char *name, struct conf_pos pos)
{
	const struct conf_program	*program;

	program = conf_run_find(reader, name, "filter FILE", pos);
	if (program == NULL)
		return;
	if (!program->is_filter) {
		conf_error(reader, pos, "program %s is no filter: it needs "
		    "\"filter\" in place of what it has", name);
		return;
	}
	chain->list = mem_grow(chain->list, chain->n + 1,
	    sizeof(*chain->list));
	chain->list[chain->n++] = program;
}

static void
complete_chain(struct conf_reader *reader, struct conf_chain *chain)
{
	const struct conf_origin	*own = find_origin(chain, NULL, 0);

	if (find_chain(reader->conf, chain->name) != chain && !own->bad)
		conf_error(reader, own->pos, "chain \"%s\" is given twice",
		    chain->name);
	if (chain->filters.n == 0 && !own->bad)
		conf_error(reader, own->pos, "block chain needs \"filters\" "
		    "and names of programs");
	for (size_t i = 0; i < chain->filters.n; i++)
		add_filter(reader, chain, chain->filters.at[i],
		    find_origin(chain, "filters", i)->pos);
}

void
conf_chain_prepare(struct conf_reader *reader)
{
	for (size_t i = 0; i < reader->conf->nchains; i++)
		complete_chain(reader, &reader->conf->chains[i]);
}

void
conf_chain_free(struct conf_chain *chain)
{
	mem_drop(&chain->list);
	mem_drop(&chain->name);
}

/*
 * Rules
 */

static void
add_use(struct conf_reader *reader, struct conf_chains *chains,
    const struct conf_pair *pair, struct conf_pos pos)
{
	const struct conf_chain	*chain = find_chain(reader->conf, pair->value);

	if (strcmp(pair->value, CONF_RUN_OFF) == 0)
		return;
	if (chain == NULL) {
		conf_error(reader, pos, "there is no chain \"%s\": write chain "
		    "%s { filters NAME }, outside of all blocks", pair->value,
		    pair->value);
		return;
	}
	chains->list = mem_grow(chains->list, chains->n + 1,
	    sizeof(*chains->list));
	chains->list[chains->n++] = (struct conf_chain_use){
		chain, pair->name[0] != '\0' ? pair->name : NULL
	};
}

void
conf_chain_complete(struct conf_reader *reader, struct conf_rules *rules,
    const struct conf_rules *around, struct conf_object object)
{
	struct conf_chains	*chains = &rules->chains;
	const struct conf_row	*row = conf_row_find_word("chain", object.kind);

	chains->from = rules;
	if (chains->named.n == 0 && around != NULL) {
		chains->from = around->chains.from;
		chains->list = around->chains.list;
		chains->n = around->chains.n;
		chains->parameters = around->chains.parameters;
		chains->nparameters = around->chains.nparameters;
		return;
	}
	make_parameters(chains);
	for (size_t i = 0; i < chains->named.n; i++)
		add_use(reader, chains, &chains->named.at[i],
		    conf_origin(object, row, i)->pos);
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
