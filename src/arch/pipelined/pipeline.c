/*
 * pipeline: its threads, from the first to the last.
 */
#include <stdint.h>
#include <stdlib.h>

#include "arch/pipelined/pipeline.h"
#include "disk/disk_thread.h"
#include "lib/mem.h"
#include "loop/acceptor.h"
#include "loop/clients.h"
#include "loop/stages.h"
#include "shared/main_env.h"
#include "stats/stats.h"

struct pipeline {
	const struct world	*world;
	struct pipeline_seat	*seats[PIPELINE_THREADS];
	struct clients		*stages[STAGE_COUNT];
	struct pipeline *const	*all;		/* with this one; or NULL */
	unsigned		 n;
};

/*
 * Tasks
 */

void
pipeline_send(struct pipeline *l, struct task *e, struct mailbox *home)
{
	enum job_kind	kind = e->job.kind;
	bool		reads = kind == JOB_READ || kind == JOB_COPY ||
			    kind == JOB_CLOSE;

	disk_thread_submit(
	    l->seats[reads ? PIPELINE_READS : PIPELINE_NAMES]->disk_thread, e,
	    home);
}

static void
start(void *context, struct task *e)
{
	struct pipeline_seat	*s = context;

	pipeline_send(s->line, e, s->queue);
}

/*
 * In the threads
 */

static void
gone(void *context)
{
	struct pipeline_seat	*s = context;

	threads_ack(&s->member, THREADS_IDLE);
}

static void
drain(struct pipeline_seat *s)
{
	if (s->clients != NULL)
		clients_drain(s->clients);
	threads_ack(&s->member, THREADS_CLOSED);
	if (s->role != STAGE_ACCEPT)	/* the others have theirs from it */
		threads_ack(&s->member, THREADS_IDLE);
}

void
pipeline_obey(struct loop_thread *m, enum threads_command order)
{
	struct pipeline_seat	*s = (struct pipeline_seat *)m;
	const struct world	*w = s->line->world;

	if (order == THREADS_SERVE && s->role == STAGE_ACCEPT)
		acceptor_listen(s->clients, w->listeners, w->nlisteners);
	else if (order == THREADS_DRAIN)
		drain(s);
	else if (order == THREADS_VERIFY)
		http_verify(s->http);
}

static void
call(void *context)
{
	threads_send_one(context, THREADS_VERIFY);
}

/*
 * Before and after
 */

static void
open_stage(struct pipeline_seat *s, struct http_setup setup, size_t room)
{
	struct loop_thread	*m = &s->member;
	bool		 doors = s->role == STAGE_ACCEPT;

	setup.clock = &m->clock;
	setup.call = call;
	setup.call_context = m;
	setup.disk = (struct disk){ .submit = start, .context = s };
	s->http = http_new(&setup);
	s->clients = clients_new(m->loop, &m->clock, s->http,
	    doors ? room : 0, doors ? gone : NULL, s);
	acceptor_borrow(s->clients);
	s->line->stages[s->role] = s->clients;
}

struct pipeline *
pipeline_new(const struct threads *team, unsigned first,
    const struct world *world, const struct http_setup *setup, size_t room)
{
	struct pipeline		*l = mem_zero(sizeof(*l));
	struct pipeline_seat	*s;

	l->world = world;
	for (unsigned i = 0; i < PIPELINE_THREADS; i++) {
		s = (struct pipeline_seat *)threads_get(team, first + i);
		l->seats[i] = s;
		s->line = l;
		s->role = i;
		s->queue = mailbox_new(s->member.loop);
		if (i < STAGE_COUNT)
			open_stage(s, *setup, room);
		else
			s->disk_thread = disk_thread_new(s->member.loop,
			    s->queue, (size_t)world->conf->helpers_queue);
	}
	for (unsigned i = 0; i < STAGE_COUNT; i++)
		stages_join(l->stages[i], (enum stage)i, l->stages,
		    l->seats[i]->queue);
	return l;
}

/* Connections are wherever they were, and so are tasks. */
void
pipeline_end(struct pipeline *l)
{
	for (unsigned i = 0; i < STAGE_COUNT; i++)
		stages_end(l->stages[i]);
	for (unsigned i = 0; i < STAGE_COUNT; i++)
		mailbox_deliver(l->seats[i]->queue);
	for (unsigned i = STAGE_COUNT; i-- > 0; )
		clients_free(&l->seats[i]->clients);
	disk_thread_end(l->seats[PIPELINE_NAMES]->disk_thread);
	disk_thread_end(l->seats[PIPELINE_READS]->disk_thread);
}

void
pipeline_free(struct pipeline **lp)
{
	struct pipeline_seat	*s;

	for (unsigned i = 0; i < PIPELINE_THREADS; i++) {
		s = (*lp)->seats[i];
		if (i < STAGE_COUNT)
			http_free(&s->http);
		else
			disk_thread_free(&s->disk_thread);
		mailbox_free(&s->queue);
	}
	mem_drop(lp);
}

static size_t
least(void *context)
{
	const struct pipeline	*l = ((struct pipeline_seat *)context)->line;
	size_t			 n, fewest = SIZE_MAX;

	for (unsigned i = 0; i < l->n; i++) {
		n = clients_count(l->all[i]->stages[STAGE_ACCEPT]);
		if (n < fewest)
			fewest = n;
	}
	return fewest;
}

void
pipeline_share(struct pipeline *l, struct pipeline *const *all, unsigned n)
{
	l->all = all;
	l->n = n;
	acceptor_share(l->stages[STAGE_ACCEPT], least, NULL);
}

void
pipeline_measure(const struct pipeline *l)
{
	int64_t	*g = stats_gauges;
	size_t	 longest;

	for (unsigned i = 0; i < STAGE_COUNT; i++)
		clients_measure(l->stages[i]);
	for (unsigned i = STAGE_COUNT; i < PIPELINE_THREADS; i++) {
		g[STATS_GAUGE_QUEUED] += (int64_t)disk_thread_waiting(
		    l->seats[i]->disk_thread, &longest);
		if ((int64_t)longest > g[STATS_GAUGE_QUEUED_MOST])
			g[STATS_GAUGE_QUEUED_MOST] = (int64_t)longest;
	}
}
