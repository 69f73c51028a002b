/*
 * pipelined: pipelines of threads, each with a stage of all requests, in front
 * of caches that they share (Choi, Kim and others).
 *
 * Nothing stalls the stages; but what the disk does not answer stalls all that
 * is asked of it behind that.  The thread that main begins with has no clients
 * but invented ones, as in mt.
 */
#include <stdlib.h>

#include "arch/pipelined/pipeline.h"
#include "arch/sync.h"
#include "lib/mem.h"

struct pipelined {
	struct service	  service;
	struct threads	 *team;
	struct pipeline	**lines;
	unsigned	  n;
	struct mailbox	 *queue;	/* what main has sent for comes back */
};

/* For main's own clients: what administrators ask. */
static void
send_for(void *context, struct task *e)
{
	struct pipelined	*p = context;

	pipeline_send(p->lines[0], e, p->queue);
}

static void
marked(void *context, enum threads_ack mark)
{
	struct pipelined	*p = context;

	if (mark == THREADS_CLOSED)
		service_others_closed(&p->service);
	else
		service_others_gone(&p->service);
}

static void
open_lines(void *context, const struct http_setup *setup)
{
	struct pipelined	*p = context;
	struct service		*s = &p->service;
	size_t			 room = service_connections(s);
	const struct threads_setup	 team = {
		.count = p->n * PIPELINE_THREADS,
		.size = sizeof(struct pipeline_seat),
		.loop = s->loop,
		.on_command = pipeline_obey,
		.on_ack = marked,
		.context = p,
	};

	p->team = threads_new(&team);
	p->queue = mailbox_new(s->loop);
	p->lines = mem_array(p->n, sizeof(p->lines[0]));
	for (unsigned i = 0; i < p->n; i++)
		p->lines[i] = pipeline_new(p->team, i * PIPELINE_THREADS,
		    s->world, setup, (room + p->n - 1) / p->n);
	for (unsigned i = 0; i < p->n && p->n > 1; i++)
		pipeline_share(p->lines[i], p->lines, p->n);
}

static void
start(void *context)
{
	threads_start(((struct pipelined *)context)->team);
}

static void
serve(void *context)
{
	threads_send(((struct pipelined *)context)->team, THREADS_SERVE);
}

static void
drain(void *context)
{
	threads_send(((struct pipelined *)context)->team, THREADS_DRAIN);
}

static bool
end(void *context)
{
	struct pipelined	*p = context;

	if (!threads_end_or_detach(p->team))
		return false;
	for (unsigned i = 0; i < p->n; i++)
		pipeline_end(p->lines[i]);
	mailbox_deliver(p->queue);
	return true;
}

static void
measure(const void *context)
{
	const struct pipelined	*p = context;

	for (unsigned i = 0; i < p->n; i++)
		pipeline_measure(p->lines[i]);
}

static void
close_lines(struct pipelined *p)
{
	for (unsigned i = 0; i < p->n; i++)
		pipeline_free(&p->lines[i]);
	free(p->lines);
	mailbox_free(&p->queue);
	threads_free(&p->team);
}

static int
run(const struct world *world)
{
	static const struct service_others	others = {
		.open = open_lines, .start = start, .serve = serve,
		.drain = drain, .end = end
	};
	struct pipelined			p = { .n = world->workers };
	struct service				*s = &p.service;
	const struct disk			disk = { send_for, &p };

	sync_open(s, world);
	s->others = &others;
	s->measure = measure;
	s->context = &p;
	service_run(s, &disk);
	close_lines(&p);
	service_close(s);
	return 0;
}

const struct arch arch_pipelined = {
	.name = "pipelined",
	.help = "a thread for each stage of a request, two for the disk",
	.worker = "pipeline",
	.threaded = true,
	.workers = 1,
	.threads = PIPELINE_THREADS,
	.disk_threads = PIPELINE_THREADS - STAGE_COUNT,
	.limitations = { [ARCH_LIMITED_COLD] = true },
	.run = run,
};
