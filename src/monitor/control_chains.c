/*
 * control_chains: shows the numbers of chains of filters, and makes the results
 * of one outdated, in the memory that all mains share.
 */
#include <errno.h>
#include <string.h>

#include "conf/conf.h"
#include "helpers/store/renewal.h"
#include "lib/buf.h"
#include "lib/io.h"
#include "lib/user.h"
#include "monitor/control_chains.h"
#include "monitor/generation.h"
#include "shared/control.h"
#include "stats/chain_stats.h"
#include "stats/report.h"

#define RELOAD	"reload"

bool
control_chains_reloads(const struct control_request *request)
{
	return request->command == CONTROL_CHAIN && request->n == 2 &&
	    strcmp(request->words[1], RELOAD) == 0;
}

static void
answer_all(const struct conf *conf, struct buf *answer)
{
	control_begin_answer(answer, CONTROL_VERDICT_OK, "%s",
	    conf->nchains == 0 ? "the conf has no chains" : "");
	if (conf->nchains > 0)
		report_chains(answer);
}

/* Opens the directory with results, as the user of mains, whom this process
 * becomes once, for good; -1 if the conf has none.  0 or an errno. */
static int
open_stored(const struct generation *g, int *directory)
{
	const char	*name = g->conf->cache.results;

	*directory = -1;
	if (name == NULL)
		return 0;
	if (user_become(&g->user) == -1)
		return EPERM;
	*directory = renewal_open_directory(name);
	return *directory == -1 ? errno : 0;
}

/* Makes what is kept on disk outdated; 0 or an errno. */
static int
renew_stored(const struct generation *g, const struct conf_chain *chain)
{
	int	directory, error = open_stored(g, &directory);

	if (directory != -1)
		error = renewal_set(directory, chain->name);
	io_close(&directory);
	return error;
}

/* Reloads results on disk before those in memory.  The result of a run that
 * begins between the two is outdated in memory, and valid on disk. */
static void
answer_reload(const struct generation *g, const struct conf_chain *chain,
    struct buf *answer)
{
	int	error = renew_stored(g, chain);

	if (error != 0) {
		control_begin_answer(answer, CONTROL_VERDICT_FAILED, "nothing "
		    "has changed: the results of chain %s in %s cannot be made "
		    "outdated: %s", chain->name, g->conf->cache.results,
		    strerror(error));
		return;
	}
	chain_stats_reload(chain->number);
	control_begin_answer(answer, CONTROL_VERDICT_OK, "%s runs anew for "
	    "each file", chain->name);
}

/* Whether a chain has a filter with that application. */
static bool
has_application(const struct conf_chain *chain,
    const struct conf_program *application)
{
	for (size_t i = 0; i < chain->n; i++)
		if (chain->list[i]->application == application)
			return true;
	return false;
}

/* Results of a chain on disk are made outdated before those in memory, as by
 * its reload; where one chain fails, the others are still done. */
int
control_chains_renew(const struct generation *g,
    const struct conf_program *application)
{
	const struct conf_chain	*chain;
	int			 directory = -1, error = 0, failure;
	bool			 is_open = false;

	chain_stats_use(g->chain_stats);
	for (size_t i = 0; i < g->conf->nchains; i++) {
		chain = &g->conf->chains[i];
		if (!has_application(chain, application))
			continue;
		if (!is_open)
			error = open_stored(g, &directory);
		is_open = true;
		failure = directory == -1 ? 0 :
		    renewal_set(directory, chain->name);
		error = error == 0 ? failure : error;
		chain_stats_reload(chain->number);
	}
	io_close(&directory);
	return error;
}

void
control_chains_answer(const struct control_request *request, struct buf *answer)
{
	const struct generation	*g = generations.serving;
	const struct conf_chain	*chain;

	chain_stats_use(g->chain_stats);
	if (request->n == 0) {
		answer_all(g->conf, answer);
		return;
	}
	chain = conf_chains_find(g->conf, request->words[0]);
	if (chain == NULL)
		control_begin_answer(answer, CONTROL_VERDICT_BAD, "there is no "
		    "chain \"%s\" in the conf in force; \"ampedctl chain\" "
		    "lists them", request->words[0]);
	else if (!control_chains_reloads(request))
		control_begin_answer(answer, CONTROL_VERDICT_BAD, "say what "
		    "chain %s is to do: the action is " RELOAD, chain->name);
	else
		answer_reload(g, chain, answer);
}
