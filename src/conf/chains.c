/*
 * chains: checks blocks chain, and finds the chains of sites and paths.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/run.h"
#include "lib/mem.h"
#include "lib/str.h"

/*
 * Blocks chain
 */

static const struct conf_origin *
find_origin(struct conf_chain *chain, const char *word, size_t element)
{
	return conf_origin(conf_object_chain(chain), word == NULL ? NULL :
	    conf_row_find_word(word, BLOCK_CHAIN), element);
}

struct conf_chain *
conf_chains_find(const struct conf *conf, const char *name)
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
	struct conf			*conf = reader->conf;
	const struct conf_program	*program;
	const struct conf_origin	*filter;

	program = conf_run_find(reader, name, "filter FILE", pos);
	if (program == NULL)
		return;
	filter = conf_origin(conf_object_program(
	    &conf->programs[program - conf->programs]),
	    conf_row_find_word("filter", BLOCK_PROGRAM), 0);
	if (filter != NULL && filter->bad)
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

	if (conf_chains_find(reader->conf, chain->name) != chain && !own->bad)
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
conf_chains_prepare(struct conf_reader *reader)
{
	for (size_t i = 0; i < reader->conf->nchains; i++) {
		reader->conf->chains[i].number = i;
		complete_chain(reader, &reader->conf->chains[i]);
	}
}

/*
 * Rules
 */

/* The name of a parameter that an argument of a filter needs, and that no query
 * can have; the caller frees it.  NULL: there is none. */
static char *
find_unknown(const struct conf_chains *chains, const char *argument)
{
	const char	*end;
	struct str	 name;
	size_t		 i;

	while ((argument = strstr(argument, "%{")) != NULL) {
		argument += 2;
		end = strchr(argument, '}');
		if (end == NULL)
			break;
		name = (struct str){ argument, (size_t)(end - argument) };
		for (i = 0; i < chains->nparameters; i++)
			if (str_same(name, str_of(chains->parameters[i].name)))
				break;
		if (i == chains->nparameters)
			return strndup(name.at, name.len);
	}
	return NULL;
}

/* Checks a chain that queries have parameters for. */
static void
check_parameters(struct conf_reader *reader, const struct conf_chains *chains,
    const struct conf_program *program, struct conf_pos pos)
{
	char	*name;

	for (size_t i = 0; i < program->command.n; i++) {
		name = find_unknown(chains, program->command.at[i]);
		if (name != NULL)
			conf_error(reader, pos, "the bounds have no parameter "
			    "\"%s\", which filter %s has in its arguments",
			    name, program->name);
		free(name);
	}
}

static void
add_use(struct conf_reader *reader, struct conf_chains *chains,
    const struct conf_pair *pair, struct conf_pos pos)
{
	const struct conf_chain	*chain = conf_chains_find(reader->conf,
				    pair->value);

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
	for (size_t i = 0; i < chain->n && chains->nparameters > 0; i++)
		check_parameters(reader, chains, chain->list[i], pos);
}

static void
complete_block(struct conf_reader *reader, struct conf_rules *rules,
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
	conf_chain_make_parameters(chains);
	for (size_t i = 0; i < chains->named.n; i++)
		add_use(reader, chains, &chains->named.at[i],
		    conf_origin(object, row, i)->pos);
}

/* A path around another one comes before it. */
void
conf_chains_complete(struct conf_reader *reader, struct conf_site *site)
{
	complete_block(reader, &site->rules, NULL, conf_object_site(site));
	for (size_t i = site->npaths; i-- > 0;)
		complete_block(reader, &site->paths[i].rules,
		    conf_run_find_around(site, i),
		    conf_object_path(&site->paths[i]));
}

/*
 * Chains and programs
 */

/* Whether answers of programs may pass through a chain where these rules are in
 * force. */
static bool
has_answers(const struct conf_rules *rules, const struct conf_chain *chain)
{
	if (rules->run.n == 0 || rules->chains.nparameters > 0)
		return false;
	for (size_t i = 0; i < rules->chains.n; i++)
		if (rules->chains.list[i].chain == chain)
			return true;
	return false;
}

static bool
is_run_by(const struct conf_rules *rules, const struct conf_program *program)
{
	for (size_t i = 0; i < rules->run.n; i++)
		if (rules->run.list[i].program->number == program->number)
			return true;
	return false;
}

/* Whether answers may pass through a chain where rules are in force: those of a
 * program, or of any (NULL). */
static bool
is_for_answers_of(const struct conf *conf, const struct conf_chain *chain,
    const struct conf_program *program)
{
	const struct conf_site	*site;
	const struct conf_rules	*rules;

	for (size_t i = 0; i < conf->nsites; i++) {
		site = &conf->sites[i];
		for (size_t k = 0; k <= site->npaths; k++) {
			rules = k < site->npaths ? &site->paths[k].rules :
			    &site->rules;
			if (has_answers(rules, chain) &&
			    (program == NULL || is_run_by(rules, program)))
				return true;
		}
	}
	return false;
}

/* Whether the filter at this place of a chain also stands at an earlier one. */
static bool
is_repeated(const struct conf_chain *chain, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(chain->filters.at[i], chain->filters.at[at]) == 0)
			return true;
	return false;
}

/* Whether an earlier filter has the same application. */
static bool
has_rival(const struct conf_chain *chain, size_t at)
{
	const struct conf_program	*of = chain->list[at]->application;

	for (size_t i = 0; i < at && of != NULL; i++)
		if (chain->list[i]->application == of)
			return true;
	return false;
}

/* Returns what is wrong with a filter of a chain for answers, or NULL.  All
 * filters of an answer run at once, and keep the places that they have while
 * they wait for others. */
static const char *
find_deadlock(const struct conf *conf, const struct conf_chain *chain,
    size_t at)
{
	const struct conf_program	*of = chain->n == chain->filters.n ?
					    chain->list[at]->application : NULL;

	if (of != NULL && is_for_answers_of(conf, chain, of))
		return "filter %s has the program whose answers pass through "
		    "it, which would wait for each other: write a program of "
		    "another name for the filter";
	if (!is_for_answers_of(conf, chain, NULL))
		return NULL;
	if (is_repeated(chain, at))
		return "filter %s stands twice in a chain for answers of "
		    "programs, which would wait for each other: write a "
		    "program of another name for the second";
	return of != NULL && has_rival(chain, at) ? "filter %s has the same "
	    "program as another filter of this chain for answers of programs, "
	    "which would wait for each other: write a program of another name "
	    "for the second" : NULL;
}

/* Refuses chains for answers whose filters could wait for each other. */
void
conf_chains_check(struct conf_reader *reader)
{
	struct conf_chain	*chain;
	const char		*wrong;

	for (size_t i = 0; i < reader->conf->nchains; i++) {
		chain = &reader->conf->chains[i];
		for (size_t k = 0; k < chain->filters.n; k++) {
			wrong = find_deadlock(reader->conf, chain, k);
			if (wrong != NULL)
				conf_error(reader, find_origin(chain, "filters",
				    k)->pos, wrong, chain->filters.at[k]);
		}
	}
}
