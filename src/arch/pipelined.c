/*
 * pipelined: a thread for each stage of a request, and two for the disk, one
 * for names and one for reading (Choi, Kim and others).
 *
 * A stage's thread is an event loop with the connections that wait in it, and
 * hands on whose next step is another stage's; a job that may wait goes to the
 * thread for it, and comes back to the stage where it is waited for.  So
 * nothing stalls the stages, but what the disk does not answer stalls all that
 * is asked of it.
 */
#include <stdlib.h>

#include "arch/place.h"
#include "arch/porter.h"
#include "arch/stages.h"
#include "arch/team.h"
#include "lib/mem.h"
#include "stats.h"

/* The threads of a pipeline: its stages, and behind those: */
enum {
	NAMES = STAGE_COUNT,	/* translates paths */
	READS,			/* and reads */
	SEATS
};

struct pipelined;

struct seat {			/* of one thread */
	struct member	 member;	/* first: casts rely on it */
	struct pipeline	*line;
	unsigned	 role;		/* a stage, NAMES or READS */
	struct queue	*queue;
	struct http	*http;		/* a stage's ... */
	struct clients	*clients;
	struct porter	*porter;	/* ... or of one for the disk */
};

struct pipeline {
	struct pipelined *all;
	struct seat	*seats[SEATS];
	struct clients	*stages[STAGE_COUNT];
};

struct pipelined {
	struct service	 service;
	struct team	*team;
	struct pipeline	*lines;
	unsigned	 n;
	struct queue	*queue;		/* main's: what it has sent for */
};

/*
 * Errands
 */

static struct porter *
porter_for(const struct pipeline *l, enum job_kind kind)
{
	bool	reads = kind == JOB_READ || kind == JOB_COPY ||
		    kind == JOB_CLOSE;

	return l->seats[reads ? READS : NAMES]->porter;
}

static void
start(void *context, struct errand *e)
{
	struct seat	*s = context;

	porter_send(porter_for(s->line, e->job.kind), e, s->queue);
}

/* For what administrators ask. */
static void
start_of_main(void *context, struct errand *e)
{
	struct pipelined	*p = context;

	porter_send(porter_for(&p->lines[0], e->job.kind), e, p->queue);
}

/*
 * In the threads
 */

static void
gone(void *context)
{
	struct seat	*s = context;

	team_mark(&s->member, TEAM_IDLE);
}

static void
drain(struct seat *s)
{
	if (s->clients != NULL)
		clients_drain(s->clients);
	team_mark(&s->member, TEAM_CLOSED);
	if (s->role != STAGE_ACCEPT)	/* the others have theirs from it */
		team_mark(&s->member, TEAM_IDLE);
}

static void
obey(struct member *m, enum team_order order)
{
	struct seat		*s = (struct seat *)m;
	const struct world	*w = s->line->all->service.world;

	if (order == TEAM_SERVE && s->role == STAGE_ACCEPT)
		clients_listen(s->clients, w->listeners, w->nlisteners);
	else if (order == TEAM_DRAIN)
		drain(s);
}

/*
 * In main
 */

static void
marked(void *context, enum team_mark mark)
{
	struct pipelined	*p = context;

	if (mark == TEAM_CLOSED)
		service_others_closed(&p->service);
	else
		service_others_gone(&p->service);
}

static void
open_stage(struct seat *s, struct http_setup setup)
{
	struct pipelined	*p = s->line->all;
	struct member		*m = &s->member;
	bool			 doors = s->role == STAGE_ACCEPT;
	size_t			 room = service_connections(&p->service);

	setup.clock = &m->clock;
	setup.disk = (struct disk){ .start = start, .context = s };
	s->http = http_new(&setup);
	s->clients = clients_new(m->loop, &m->clock, s->http,
	    doors ? (room + p->n - 1) / p->n : 0, doors ? gone : NULL, s);
	clients_lent(s->clients);
	s->line->stages[s->role] = s->clients;
}

static void
open_line(struct pipelined *p, struct pipeline *l,
    const struct http_setup *setup)
{
	const struct conf	*conf = p->service.world->conf;
	unsigned		 first = (unsigned)(l - p->lines) * SEATS;
	struct seat		*s;

	l->all = p;
	for (unsigned i = 0; i < SEATS; i++) {
		s = (struct seat *)team_member(p->team, first + i);
		l->seats[i] = s;
		s->line = l;
		s->role = i;
		s->queue = queue_new(s->member.loop);
		if (i < STAGE_COUNT)
			open_stage(s, *setup);
		else
			s->porter = porter_new(s->member.loop, s->queue,
			    (size_t)conf->helpers_queue);
	}
	for (unsigned i = 0; i < STAGE_COUNT; i++)
		stages_join(l->stages[i], (enum stage)i, l->stages,
		    l->seats[i]->queue);
}

static void
open_all(void *context, const struct http_setup *setup)
{
	struct pipelined	*p = context;
	const struct team_setup	 team = {
		.members = p->n * SEATS,
		.size = sizeof(struct seat),
		.loop = p->service.loop,
		.obey = obey,
		.marked = marked,
		.context = p,
	};

	p->team = team_new(&team);
	p->queue = queue_new(p->service.loop);
	p->lines = mem_zero(p->n * sizeof(p->lines[0]));
	for (unsigned i = 0; i < p->n; i++)
		open_line(p, &p->lines[i], setup);
}

static void
start_all(void *context)
{
	team_start(((struct pipelined *)context)->team);
}

static void
serve_all(void *context)
{
	team_tell(((struct pipelined *)context)->team, TEAM_SERVE);
}

static void
drain_all(void *context)
{
	team_tell(((struct pipelined *)context)->team, TEAM_DRAIN);
}

/* Nobody runs any more: connections are wherever they were. */
static void
end_line(struct pipeline *l)
{
	for (unsigned i = 0; i < STAGE_COUNT; i++)
		stages_end(l->stages[i]);
	for (unsigned i = 0; i < STAGE_COUNT; i++)
		queue_empty(l->seats[i]->queue);
	for (unsigned i = STAGE_COUNT; i-- > 0; )
		clients_free(&l->seats[i]->clients);
	porter_end(l->seats[NAMES]->porter);
	porter_end(l->seats[READS]->porter);
}

static bool
end_all(void *context)
{
	struct pipelined	*p = context;

	if (!team_end(p->team))
		return false;
	for (unsigned i = 0; i < p->n; i++)
		end_line(&p->lines[i]);
	queue_empty(p->queue);
	return true;
}

static void
close_line(struct pipeline *l)
{
	for (unsigned i = 0; i < SEATS; i++) {
		if (i < STAGE_COUNT)
			http_free(&l->seats[i]->http);
		else
			porter_free(&l->seats[i]->porter);
		queue_free(&l->seats[i]->queue);
	}
}

static void
measure(const void *context)
{
	const struct pipelined	*p = context;
	const struct pipeline	*l;

	stats_gauges[STATS_GAUGE_QUEUED] = 0;
	for (l = p->lines; l < p->lines + p->n; l++) {
		for (unsigned i = 0; i < STAGE_COUNT; i++)
			clients_measure(l->stages[i]);
		for (unsigned i = NAMES; i < SEATS; i++)
			stats_gauges[STATS_GAUGE_QUEUED] +=
			    (int64_t)porter_waiting(l->seats[i]->porter);
	}
}

static const struct service_others	others = {
	.open = open_all,
	.start = start_all,
	.serve = serve_all,
	.drain = drain_all,
	.end = end_all,
};

static int
run(const struct world *world)
{
	struct pipelined	 p = { .n = world->workers };
	struct service		*s = &p.service;
	struct disk		 disk = { start_of_main, &p };

	place_open(s, world);
	s->others = &others;
	s->measure = measure;
	s->context = &p;
	service_run(s, &disk);
	for (unsigned i = 0; i < p.n; i++)
		close_line(&p.lines[i]);
	queue_free(&p.queue);
	free(p.lines);
	team_free(&p.team);
	service_close(s);
	return 0;
}

const struct arch arch_pipelined = {
	.name = "pipelined",
	.help = "a thread for each stage of a request, two for the disk",
	.worker = "pipeline",
	.inside = true,
	.workers = 1,
	.threads = SEATS,
	.run = run,
};
