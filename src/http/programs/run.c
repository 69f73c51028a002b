/*
 * run: makes and frees what a request for a program needs.
 */
#include <stdlib.h>

#include "http/programs/run.h"
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

void
run_free(struct conn *c)
{
	struct run	*run = c->request->run;

	run_end(c);
	run_body_drop(c);
	buf_free(&run->head);
	buf_free(&run->cause);
	free(run->file);
	mem_drop(&c->request->run);
}
