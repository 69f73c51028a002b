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
	struct loop_thread		 member;	/* first: casts rely on it */
	const struct world	*world;
	struct http		*http;
	struct clients		*clients;
	_Atomic size_t		 staying;	/* for the others to see */
};

struct mt {
	struct service	 service;
	struct threads	*team;
	struct turns	*turns;
};

static struct server *
server(const struct threads *team, unsigned i)
{
	return (struct server *)threads_get(team, i);
}

/* Clients that the one of the others has that has fewest. */
static size_t
least(void *context)
{
	const struct server	*us = context, *s;
	size_t			 n, fewest = SIZE_MAX;

	for (unsigned i = 0; i < us->world->workers; i++) {
		s = server(us->member.threads, i);
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

	threads_ack(&s->member, THREADS_IDLE);
}

/* In any thread. */
static void
call(void *context)
{
	threads_send_one(context, THREADS_VERIFY);
}

static void
obey(struct loop_thread *member, enum threads_command order)
{
	struct server	*s = (struct server *)member;

	switch (order) {
	case THREADS_SERVE:
		acceptor_share(s->clients, least, changed);
		acceptor_listen(s->clients, s->world->listeners,
		    s->world->nlisteners);
		break;
	case THREADS_DRAIN:
		clients_drain(s->clients);
		threads_ack(member, THREADS_CLOSED);
		break;
	case THREADS_VERIFY:
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
marked(void *context, enum threads_ack mark)
{
	struct mt	*mt = context;

	if (mark == THREADS_CLOSED)
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
	const struct threads_setup	 team = {
		.count = world->workers,
		.size = sizeof(struct server),
		.loop = mt->service.loop,
		.on_command = obey,
		.on_ack = marked,
		.context = mt,
	};
	struct server		*s;

	mt->team = threads_new(&team);
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
	threads_start(((struct mt *)context)->team);
}

static void
serve(void *context)
{
	threads_send(((struct mt *)context)->team, THREADS_SERVE);
}

static void
drain(void *context)
{
	threads_send(((struct mt *)context)->team, THREADS_DRAIN);
}

static bool
end(void *context)
{
	return threads_end_or_detach(((struct mt *)context)->team);
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
	threads_free(&mt->team);
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
	.threaded = true,
	.workers = 32,
	.threads = 1,
	.disk_threads = 1,
	.limitations = { [ARCH_LIMITED_CLIENTS] = true },
	.run = run,
};
