/*
 * start: asks for the program.
 */
#include <errno.h>
#include <string.h>

#include "http/programs/environment.h"
#include "http/programs/run.h"
#include "lib/clock.h"
#include "lib/mem.h"
#include "stats/stats.h"

/* The program has been asked for, the first time. */
static void
note_request(struct conn *c)
{
	struct run	*run = c->request->run;

	if (run->resends > 0)
		return;
	program_stats_add(run->program->number, PROGRAM_STATS_REQUESTS, 1);
	run->counted = false;
	run->since = clock_us();
}

static enum go
fail_to_start(struct conn *c, int error)
{
	if (error == EMSGSIZE)
		return failure_reply(c, WHY_ENVIRONMENT, "its variables do "
		    "not fit into a message");
	note_request(c);
	stats_count(STATS_PROGRAMS_BUSY);
	run_count(c, PROGRAM_STATS_REFUSED);
	return failure_reply(c, WHY_NO_MANAGER, "its manager cannot be asked "
	    "for it now: %s", strerror(error));
}

/* Main must not wait for a disk to read a body that goes over a connection. */
static bool
has_slow_body(const struct run *run)
{
	return run->body.device != 0 && run->program->protocol != CONF_CGI;
}

/* The body stays counted while the program may read it. */
static struct backend *
start_backend(struct conn *c, int *error)
{
	struct run		*run = c->request->run;
	const struct conf_program *program = run->program;
	const struct backends	*all = &c->http->backends;
	struct buf		*texts = &c->http->work;
	struct backend_start	 start = {
		.program = (uint32_t)program->number,
		.manager = (uint32_t)program->manager,
		.place = (uint32_t)program->place,
		.protocol = (uint8_t)program->protocol,
		.keep = program->protocol == CONF_FASTCGI &&
		    program->servers.n == 0,
		.authorizes = run->authorizes, .name = program->name,
		.target = parse_str(c->input, c->request->parse.target),
		.host = parse_host_name(&c->request->parse, c->input),
		.body = run->body.is_fed ? -1 : run->body.fd,
		.sends_body = run->body.is_fed,
	};
	struct backend		*backend = NULL;

	*error = ECONNREFUSED;
	if (all->start == NULL)
		return NULL;
	if (start.host.len == 0)
		start.host = str_of(c->request->site->names.at[0]);
	if (program->directory != NULL)
		start.file = str_of(run->file);
	texts->len = 0;
	environment_add(c, texts);
	start.environment = (struct str){ texts->at, texts->len };
	backend = all->start(all->context, &start,
	    (size_t)program->hold);
	*error = errno;
	/* Passwords may be in it. */
	explicit_bzero(texts->at, texts->len);
	texts->len = 0;
	if (!run->body.is_fed)
		run_body_close(c);
	return backend;
}

/* Asks for the addresses of the connection, which its session then keeps. */
static enum go
ask_addresses(struct conn *c)
{
	c->session->ends = mem_zero(sizeof(*c->session->ends));
	c->wait.addresses = c->session->ends;
	return conn_wait(c, WAIT_ADDRESSES, TIMEOUT_PROGRAM, 0, 0);
}

enum go
start_step(struct conn *c)
{
	struct run	*run = c->request->run;
	int		 error;

	if (conn_has_output(c))
		return conn_send(c, STEP_START);
	if (c->session->ends == NULL)
		return ask_addresses(c);
	(void)conn_outcome(c);
	run->body.is_fed = run->body.is_fed || has_slow_body(run);
	run->backend = start_backend(c, &error);
	if (run->backend == NULL)
		return fail_to_start(c, error);
	note_request(c);
	run->deadline = c->http->clock->ms + run->program->within +
	    run->program->answer;
	return conn_go(c, STEP_ANSWER);
}
