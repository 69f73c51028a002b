/*
 * mt: threads with one client at a time each, in front of caches that they
 * share (Flash, section 3.2).  While one waits for its client or for a disk,
 * the others go on.
 *
 * The thread that main begins with has no clients but invented ones: signals,
 * the monitor, the log helper and what administrators ask are its business.
 */
#include <stdatomic.h>

#include "arch/sync.h"
#include "loop/acceptor.h"
#include "loop/threads.h"
#include "shared/accept_token.h"

struct server {
	struct member		 member;	/* first: casts rely on it */
	const struct world	*world;
	struct http		*http;
	struct clients		*clients;
	_Atomic size_t		 staying;	/* for the others to see */
};

struct mt {
	struct service	 service;
	struct team	*team;
	struct turns	*turns;
};

static struct server *
server(const struct team *team, unsigned i)
{
	return (struct server *)team_member(team, i);
}

/* Clients that the one of the others has that has fewest. */
static size_t
least(void *context)
{
	const struct server	*us = context, *s;
	size_t			 n, fewest = SIZE_MAX;

	for (unsigned i = 0; i < us->world->workers; i++) {
		s = server(us->member.team, i);
		n = s == us ? SIZE_MAX : atomic_load(&s->staying);
		if (n < fewest)
			fewest = n;
	}
	return fewest;
}

/*
 * In the thread of a server
 */

static void
changed(void *context)
{
	struct server	*s = context;

	atomic_store(&s->staying, clients_staying(s->clients));
}

static void
gone(void *context)
{
	struct server	*s = context;

	team_mark(&s->member, TEAM_IDLE);
}

/* In any thread. */
static void
call(void *context)
{
	team_tell_one(context, TEAM_VERIFY);
}

static void
obey(struct member *member, enum team_order order)
{
	struct server	*s = (struct server *)member;

	switch (order) {
	case TEAM_SERVE:
		acceptor_share(s->clients, least, changed);
		acceptor_listen(s->clients, s->world->listeners,
		    s->world->nlisteners);
		break;
	case TEAM_DRAIN:
		clients_drain(s->clients);
		team_mark(member, TEAM_CLOSED);
		break;
	case TEAM_VERIFY:
		http_verify(s->http);
		break;
	default:
		break;
	}
}

/*
 * In main's
 */

static void
marked(void *context, enum team_mark mark)
{
	struct mt	*mt = context;

	if (mark == TEAM_CLOSED)
		service_others_closed(&mt->service);
	else
		service_others_gone(&mt->service);
}

static void
open_team(void *context, const struct http_setup *shared)
{
	struct mt		*mt = context;
	const struct world	*world = mt->service.world;
	struct http_setup	 setup = *shared;
	const struct team_setup	 team = {
		.members = world->workers,
		.size = sizeof(struct server),
		.loop = mt->service.loop,
		.obey = obey,
		.marked = marked,
		.context = mt,
	};
	struct server		*s;

	mt->team = team_new(&team);
	mt->turns = turns_new(world->workers);
	for (unsigned i = 0; i < world->workers; i++) {
		s = server(mt->team, i);
		s->world = world;
		setup.clock = &s->member.clock;
		setup.call = call;
		setup.call_context = &s->member;
		s->http = http_new(&setup);
		s->clients = clients_new(s->member.loop, setup.clock, s->http,
		    1, gone, s);
		acceptor_borrow(s->clients);
		acceptor_one_client(s->clients, mt->turns, i);
	}
}

static void
start(void *context)
{
	team_start(((struct mt *)context)->team);
}

static void
serve(void *context)
{
	team_tell(((struct mt *)context)->team, TEAM_SERVE);
}

static void
drain(void *context)
{
	team_tell(((struct mt *)context)->team, TEAM_DRAIN);
}

static bool
end(void *context)
{
	return team_end_or_leave(((struct mt *)context)->team);
}

/* By whichever thread. */
static void
measure(const void *context)
{
	const struct mt	*mt = context;

	for (unsigned i = 0; i < mt->service.world->workers; i++)
		clients_measure(server(mt->team, i)->clients);
}

static void
close_team(struct mt *mt)
{
	struct server	*s;

	for (unsigned i = 0; i < mt->service.world->workers; i++) {
		s = server(mt->team, i);
		clients_free(&s->clients);
		http_free(&s->http);
	}
	team_free(&mt->team);
	turns_free(&mt->turns);
}

static int
run(const struct world *world)
{
	static const struct service_others	others = {
		.open = open_team, .start = start, .serve = serve,
		.drain = drain, .end = end
	};
	struct mt				mt = { .team = NULL };
	struct service				*s = &mt.service;

	sync_open(s, world);
	s->others = &others;
	s->measure = measure;
	s->context = &mt;
	service_run(s, &sync_disk);
	close_team(&mt);
	service_close(s);
	return 0;
}

const struct arch arch_mt = {
	.name = "mt",
	.help = "a thread for each client, disk work in place, shared caches",
	.worker = "thread",
	.inside = true,
	.workers = 32,
	.threads = 1,
	.working = 1,
	.lacks = { [ARCH_LACK_CLIENTS] = true },
	.run = run,
};
