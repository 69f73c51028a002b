/*
 * run: makes and frees what a request for a program needs.
 */
#include <stdlib.h>

#include "http/programs/kept.h"
#include "http/programs/run.h"
#include "lib/mem.h"

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

void
run_end(struct conn *c)
{
	struct run	*run = c->request->run;

	if (run->passage != NULL)
		c->http->backends.leave(&run->passage);
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
	run_leave(c);
	kept_free(&c->request->run->kept);
	mem_drop(&c->request->run);
}
