/*
 * run: makes and frees what a request for a program needs.
 */
#include <stdlib.h>

#include "http/programs/run.h"
#include "lib/io.h"
#include "lib/mem.h"

static const struct run	empty = { .index = "", .body.fd = -1, .left = -1 };

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

/* Frees all but what programs have authorized. */
static void
drop_program(struct conn *c)
{
	struct run	*run = c->request->run;

	run_end(c);
	run_drop_body(c);
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
}

void
run_free(struct conn *c)
{
	drop_program(c);
	buf_wipe(&c->request->run->authorized.variables);
	mem_drop(&c->request->run);
}

enum go
run_wait(struct conn *c)
{
	struct run	*run = c->request->run;

	c->wait.backend = run->backend;
	return conn_wait(c, WAIT_BACKEND, TIMEOUT_PROGRAM, run->deadline, 0);
}
