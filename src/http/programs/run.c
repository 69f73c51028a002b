/*
 * run: makes and frees what a request for a program needs.
 */
#include <stdlib.h>

#include "http/programs/run.h"
#include "lib/io.h"
#include "lib/mem.h"

enum go
run_begin(struct conn *c, const struct conf_program *program, char *file,
    size_t script_len)
{
	struct run	*run = mem_zero(sizeof(*run));

	run->program = program;
	run->file = file;
	run->script_len = script_len;
	run->index = "";
	run->body.fd = -1;
	run->left = -1;
	run->counted = true;
	c->request->run = run;
	return conn_go(c, STEP_COLLECT);
}

void
run_end(struct conn *c)
{
	struct run	*run = c->request->run;

	if (run->backend != NULL)
		c->http->backends.end(&run->backend);
}

/* A helper may still be sent the descriptor, so the task keeps it. */
static void
forget_spool(struct run *run)
{
	run->body.spool->file = run->body.fd;
	run->body.fd = -1;
	run->body.spool->run = NULL;
	run->body.spool = NULL;
}

void
run_drop_body(struct conn *c)
{
	struct run	*run = c->request->run;

	if (run->body.spool != NULL)
		forget_spool(run);
	io_close(&run->body.fd);
	buf_wipe(&run->body.bytes);
	c->http->caches->bodies -= run->body.counted;
	run->body.counted = 0;
}

void
run_count(struct conn *c, enum program_stats_counter counter)
{
	struct run	*run = c->request->run;

	if (!run->counted)
		program_stats_add(run->program->number, counter, 1);
	run->counted = true;
}

void
run_free(struct conn *c)
{
	struct run	*run = c->request->run;

	run_count(c, PROGRAM_STATS_LEFT);
	run_end(c);
	run_drop_body(c);
	buf_free(&run->head);
	buf_free(&run->cause);
	free(run->file);
	mem_drop(&c->request->run);
}

enum go
run_wait(struct conn *c)
{
	struct run	*run = c->request->run;

	c->wait.backend = run->backend;
	return conn_wait(c, WAIT_BACKEND, TIMEOUT_PROGRAM, run->deadline, 0);
}
