/*
 * pipelined: pipelines of threads, one thread for each stage of a request, and
 * shared caches (Choi, Kim, Ersoz and Das, WWW 2005).
 *
 * The disk never blocks a stage.  A task that the disk does not answer blocks
 * all later tasks of its disk thread.  Main's first thread has only internal
 * clients, as in mt.
 */
#include <stdlib.h>

#include "arch/pipelined/pipeline.h"
#include "arch/sync.h"
#include "lib/mem.h"

struct pipelined {
	struct service	  service;
	struct pipeline	**pipelines;
	unsigned	  n;
	struct mailbox	 *mailbox;	/* for main's own tasks */
};

/* Submits the tasks of main's internal clients. */
static enum submitted
submit_for_main(void *context, struct task *e)
{
	struct pipelined	*p = context;

	return pipeline_submit(p->pipelines[0], e, p->mailbox);
}

static void
open_pipelines(void *context, const struct http_setup *setup)
{
	struct pipelined	*p = context;
	struct service		*s = &p->service;
	size_t			 limit = service_connections(s);

	p->mailbox = mailbox_new(s->loop);
	p->pipelines = mem_array(p->n, sizeof(p->pipelines[0]));
	for (unsigned i = 0; i < p->n; i++)
		p->pipelines[i] = pipeline_new(s->threads, i * PIPELINE_THREADS,
		    s->env, setup, (limit + p->n - 1) / p->n);
	for (unsigned i = 0; i < p->n && p->n > 1; i++)
		pipeline_share(p->pipelines[i], p->pipelines, p->n);
}

static void
end_pipelines(void *context)
{
	struct pipelined	*p = context;

	for (unsigned i = 0; i < p->n; i++)
		pipeline_end(p->pipelines[i]);
	mailbox_deliver(p->mailbox);
}

static void
measure_pipelines(void *context)
{
	const struct pipelined	*p = context;

	for (unsigned i = 0; i < p->n; i++)
		pipeline_measure(p->pipelines[i]);
}

static void
close_pipelines(struct pipelined *p)
{
	for (unsigned i = 0; i < p->n; i++)
		pipeline_free(&p->pipelines[i]);
	free(p->pipelines);
	mailbox_free(&p->mailbox);
}

static int
run_pipelined(const struct main_env *env)
{
	static const struct service_thread_ops	ops = {
		.size = sizeof(struct stage_thread),
		.on_command = pipeline_run_command, .open = open_pipelines,
		.ended = end_pipelines,
	};
	struct pipelined	 p = { .n = env->workers };
	struct service		*s = &p.service;
	const struct disk	 disk = { .submit = submit_for_main,
				     .context = &p };

	sync_open(s, env);
	s->ops = &ops;
	s->measure = measure_pipelines;
	s->context = &p;
	service_run(s, &disk);
	close_pipelines(&p);
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
	.run = run_pipelined,
};
