/*
 * run: makes and frees what a request for a program needs.
 */
#include <errno.h>
#include <stdlib.h>

#include "conf/chain.h"
#include "filter.h"
#include "http/programs/kept.h"
#include "http/programs/run.h"
#include "lib/clock.h"
#include "lib/mem.h"
#include "stats/chain_stats.h"

static const struct run	empty = { .index = "", .body.fd = -1, .left = -1,
			    .counted = true };

struct run *
run_get(struct request *r)
{
	if (r->run == NULL) {
		r->run = mem_get(sizeof(*r->run));
		*r->run = empty;
	}
	return r->run;
}

enum go
run_begin(struct conn *c, const struct conf_program *program, char *file,
    size_t script_len)
{
	struct run	*run = run_get(c->request);

	run->program = program;
	run->file = file;
	run->script_len = script_len;
	return conn_go(c, STEP_COLLECT);
}

static void
count_end(const struct run *run)
{
	const struct passage	*p = run->passage;
	size_t			 chain = run->chain->number;
	int			 error = p->output.error;

	chain_stats_time(chain, CHAIN_STATS_HISTOGRAM_TIME,
	    clock_us() - run->since);
	if (p->output.end == BACKEND_FAILED &&
	    why_of_filters(error) == WHY_FILTER_BUSY)
		chain_stats_add(chain, CHAIN_STATS_REFUSED);
	else if (p->output.end == BACKEND_FAILED && error != ENODATA)
		chain_stats_add(chain, CHAIN_STATS_FAILED);
	else if (p->left_out != 0)
		chain_stats_add(chain, CHAIN_STATS_LEFT_OUT);
}

void
run_end_passage(struct conn *c)
{
	count_end(c->request->run);
	c->http->backends.leave(&c->request->run->passage);
}

void
run_end(struct conn *c)
{
	struct run	*run = c->request->run;

	if (run->passage != NULL)
		run_end_passage(c);
	if (run->backend != NULL)
		c->http->backends.end(&run->backend);
}

void
run_count(struct conn *c, enum program_stats_counter counter)
{
	struct run	*run = c->request->run;

	if (!run->counted)
		program_stats_add(run->program->number, counter, 1);
	run->counted = true;
}

/* Frees all but what has come of programs before this one. */
static void
drop_program(struct conn *c)
{
	struct run	*run = c->request->run;

	run_count(c, PROGRAM_STATS_LEFT);
	run_end(c);
	run_body_drop(c);
	buf_free(&run->head);
	buf_free(&run->cause);
	free(run->file);
}

void
run_renew(struct conn *c)
{
	struct run	*run = c->request->run, old = *run;

	drop_program(c);
	*run = empty;
	run->authorized = old.authorized;
	run->kept = old.kept;
}

void
run_leave(struct conn *c)
{
	struct run	*run = c->request->run;

	run_renew(c);
	buf_wipe(&run->authorized.variables);
	run->authorized.next = 0;
}

void
run_free(struct conn *c)
{
	drop_program(c);
	buf_wipe(&c->request->run->authorized.variables);
	kept_free(&c->request->run->kept);
	mem_drop(&c->request->run);
}
