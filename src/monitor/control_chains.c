/*
 * control_chains: shows the numbers of chains of filters.
 */
#include "conf/conf.h"
#include "lib/buf.h"
#include "monitor/control_chains.h"
#include "monitor/generation.h"
#include "shared/control.h"
#include "stats/chain_stats.h"
#include "stats/report.h"

void
control_chains_answer(const struct control_request *request, struct buf *answer)
{
	const struct generation	*g = generations.serving;

	(void)request;
	chain_stats_use(g->chain_stats);
	control_begin_answer(answer, CONTROL_VERDICT_OK, "%s",
	    g->conf->nchains == 0 ? "the conf has no chains" : "");
	if (g->conf->nchains > 0)
		report_chains(answer);
}
