/*
 * pipeline: the threads of a pipeline, from their making to their end.
 */
#include <stdint.h>
#include <stdlib.h>

#include "arch/pipelined/pipeline.h"
#include "disk/disk_thread.h"
#include "lib/mem.h"
#include "loop/acceptor.h"
#include "loop/backends.h"
#include "loop/clients.h"
#include "loop/stages.h"
#include "shared/main_env.h"
#include "stats/stats.h"

struct pipeline {
	const struct main_env	*env;
	struct stage_thread	*threads[PIPELINE_THREADS];
	struct clients		*stages[STAGE_COUNT];
	struct backends		 backends;	/* STAGE_SEND_DATA's; other
						 * stages may end one */
	struct backends		 filters;	/* STAGE_FIND_FILE's, which
						 * starts filters only */
	struct pipeline *const	*all;		/* by pipeline_share() */
	unsigned		 n;		/* of all */
};

/*
 * Tasks
 */

enum submitted
pipeline_submit(struct pipeline *l, struct task *e, struct mailbox *reply_to)
{
	unsigned	role = job_has_range(e->job.kind) ? PIPELINE_READS :
			    PIPELINE_NAMES;

	return disk_thread_submit(l->threads[role]->disk_thread, e, reply_to);
}

static enum submitted
submit_task(void *context, struct task *e)
{
	struct stage_thread	*s = context;

	return pipeline_submit(s->pipeline, e, s->mailbox);
}

/*
 * In the threads
 */

static void
on_empty(void *context)
{
	struct stage_thread	*s = context;

	threads_ack(&s->thread, THREADS_IDLE);
}

static size_t
least_elsewhere(void *context)
{
	const struct pipeline	*l = ((struct stage_thread *)context)->pipeline;
	size_t			 n, fewest = SIZE_MAX;

	for (unsigned i = 0; i < l->n; i++) {
		n = clients_count(l->all[i]->stages[STAGE_ACCEPT]);
		if (n < fewest)
			fewest = n;
	}
	return fewest;
}

static void
listen_pipeline(struct stage_thread *s)
{
	const struct main_env		*env = s->pipeline->env;
	const struct acceptor_setup	 setup = {
		.policy = &accept_balanced,
		.listeners = env->listeners, .n = env->nlisteners,
		.borrowed = true,
		.least = least_elsewhere,
	};

	acceptor_listen(s->clients, &setup);
}

static void
drain_stage(struct stage_thread *s)
{
	if (s->clients != NULL)
		acceptor_drain(s->clients);
	threads_ack(&s->thread, THREADS_CLOSED);
	if (s->role != STAGE_ACCEPT)	/* which waits for all connections */
		threads_ack(&s->thread, THREADS_IDLE);
}

void
pipeline_run_command(struct loop_thread *m, enum threads_command command)
{
	struct stage_thread	*s = (struct stage_thread *)m;

	if (command == THREADS_SERVE && s->role == STAGE_ACCEPT)
		listen_pipeline(s);
	else if (command == THREADS_DRAIN)
		drain_stage(s);
	else if (command == THREADS_VERIFY)
		http_verify(s->http);
}

static void
wake_to_verify(void *context)
{
	threads_send_one(context, THREADS_VERIFY);
}

/*
 * Before and after
 */

static void
open_stage(struct stage_thread *s, struct http_setup setup, size_t limit)
{
	struct loop_thread	*m = &s->thread;
	bool			 accepts = s->role == STAGE_ACCEPT;

	setup.clock = &m->clock;
	setup.schedule_verify = wake_to_verify;
	setup.verify_context = m;
	setup.disk = (struct disk){ .submit = submit_task, .context = s };
	setup.backends = s->role == STAGE_FIND_FILE ? s->pipeline->filters :
	    s->pipeline->backends;
	s->http = http_new(&setup);
	s->clients = clients_new(m->loop, &m->clock, s->http,
	    accepts ? limit : 0, accepts ? on_empty : NULL, s);
	s->pipeline->stages[s->role] = s->clients;
}

static void
open_thread(struct pipeline *l, unsigned role, struct loop_thread *thread)
{
	struct stage_thread	*s = (struct stage_thread *)thread;

	l->threads[role] = s;
	s->pipeline = l;
	s->role = role;
	s->mailbox = mailbox_new(s->thread.loop);
}

struct pipeline *
pipeline_new(const struct threads *threads, unsigned first,
    const struct main_env *env, const struct http_setup *setup, size_t limit)
{
	struct pipeline		*l = mem_zero(sizeof(*l));
	struct stage_thread	*s;

	l->env = env;
	for (unsigned i = 0; i < PIPELINE_THREADS; i++)
		open_thread(l, i, threads_get(threads, first + i));
	s = l->threads[STAGE_SEND_DATA];
	backends_share(&l->backends, &setup->backends, s->thread.loop,
	    &s->thread.clock, s->mailbox);
	s = l->threads[STAGE_FIND_FILE];
	backends_share(&l->filters, &setup->backends, s->thread.loop,
	    &s->thread.clock, NULL);
	for (unsigned i = 0; i < PIPELINE_THREADS; i++) {
		s = l->threads[i];
		if (i < STAGE_COUNT)
			open_stage(s, *setup, limit);
		else
			s->disk_thread = disk_thread_new(s->thread.loop,
			    s->mailbox, (size_t)env->conf->helpers_queue);
	}
	for (unsigned i = 0; i < STAGE_COUNT; i++)
		stages_join(l->stages[i], (enum stage)i, l->stages,
		    l->threads[i]->mailbox);
	return l;
}

/* Connections and tasks may be in any stage or mailbox. */
void
pipeline_end(struct pipeline *l)
{
	for (unsigned i = 0; i < STAGE_COUNT; i++)
		stages_end(l->stages[i]);
	for (unsigned i = 0; i < STAGE_COUNT; i++)
		mailbox_deliver(l->threads[i]->mailbox);
	for (unsigned i = STAGE_COUNT; i-- > 0; )
		stages_free(&l->threads[i]->clients);
	disk_thread_end(l->threads[PIPELINE_NAMES]->disk_thread);
	disk_thread_end(l->threads[PIPELINE_READS]->disk_thread);
}

void
pipeline_free(struct pipeline **lp)
{
	struct stage_thread	*s;

	backends_end_filters(&(*lp)->filters);
	backends_close(&(*lp)->filters);
	backends_close(&(*lp)->backends);
	for (unsigned i = 0; i < PIPELINE_THREADS; i++) {
		s = (*lp)->threads[i];
		if (i < STAGE_COUNT)
			http_free(&s->http);
		else
			disk_thread_free(&s->disk_thread);
		mailbox_free(&s->mailbox);
	}
	mem_drop(lp);
}

void
pipeline_share(struct pipeline *l, struct pipeline *const *all, unsigned n)
{
	l->all = all;
	l->n = n;
}

void
pipeline_measure(const struct pipeline *l)
{
	int64_t	*g = stats_gauges;
	size_t	 longest;

	for (unsigned i = 0; i < STAGE_COUNT; i++)
		clients_measure(l->stages[i]);
	for (unsigned i = STAGE_COUNT; i < PIPELINE_THREADS; i++) {
		g[STATS_GAUGE_QUEUED] +=
		    (int64_t)disk_thread_waiting(
		    l->threads[i]->disk_thread, &longest);
		if ((int64_t)longest > g[STATS_GAUGE_QUEUED_MAX])
			g[STATS_GAUGE_QUEUED_MAX] = (int64_t)longest;
	}
}
