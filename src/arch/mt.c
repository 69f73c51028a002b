/*
 * mt: threads with one client at a time each, and shared caches (Flash, section
 * 3.2).  While one thread waits for its client or for a disk, the others go on.
 *
 * Main's first thread has only internal clients.  It handles signals, the
 * monitor, the access logger and the requests of administrators.
 *
 * The threads are a pool, or (spawn session, spawn request) made for one client
 * or request each; then the first of them accepts.
 */
#include <stdatomic.h>

#include "arch/sync.h"
#include "conf/strategies.h"
#include "lib/syscall_filter.h"
#include "loop/acceptor.h"
#include "loop/blocking.h"
#include "loop/spawner.h"
#include "loop/threads.h"
#include "shared/accept_token.h"
#include "stats/stats.h"

struct mt_thread {
	struct loop_thread	 thread;	/* first: casts rely on it */
	struct mt		*mt;
	struct http_loop	*http;
	struct backends		 backends;
	struct clients		*clients;
	struct spawned		*spawned;	/* NULL: it runs always */
	_Atomic size_t		 staying;	/* by on_changed() */
};

struct mt {
	struct service		 service;
	unsigned		 n;		/* of threads */
	struct accept_token	*token;		/* of a pool */
	struct spawner		*spawner;	/* NULL: a pool */
	struct mailbox		*mailbox;	/* of the thread that accepts */
};

static struct mt_thread *
get_thread(const struct mt *mt, unsigned i)
{
	return (struct mt_thread *)threads_get(mt->service.threads, i);
}

static const struct conf *
get_conf(const struct mt *mt)
{
	return mt->service.env->conf;
}

static size_t
least_elsewhere(void *context)
{
	const struct mt_thread	*us = context, *s;
	size_t			 n, fewest = SIZE_MAX;

	for (unsigned i = us->mt->spawner != NULL; i < us->mt->n; i++) {
		s = get_thread(us->mt, i);
		n = s == us ? SIZE_MAX : atomic_load(&s->staying);
		if (n < fewest)
			fewest = n;
	}
	return fewest;
}

/*
 * In one of the threads
 */

static void
on_changed(void *context, size_t staying)
{
	struct mt_thread	*s = context;

	atomic_store(&s->staying, staying);
}

static void
on_empty(void *context)
{
	struct mt_thread	*s = context;

	threads_ack(&s->thread, THREADS_IDLE);
}

static bool
claim_room(void *context)
{
	return spawner_claim(((struct mt_thread *)context)->mt->spawner);
}

/* A thread that was made for a client does not accept, but makes room. */
static void
listen_thread(struct mt_thread *s)
{
	const struct mt			*mt = s->mt;
	const struct main_env		*env = mt->service.env;
	const struct acceptor_setup	 setup = {
		.policy = &accept_one_client,
		.listeners = env->listeners, .n = env->nlisteners,
		.borrowed = true,
		.claim = s->spawned != NULL ? claim_room : NULL,
		.least = least_elsewhere,
		.on_changed = on_changed,
		.token = mt->token, .main = s->thread.number - 1,
	};

	acceptor_listen(s->clients, &setup);
}

static void
listen_for_others(struct mt_thread *s)
{
	const struct main_env		*env = s->mt->service.env;
	const struct acceptor_setup	 setup = {
		.policy = env->conf->spawn == SPAWN_REQUEST ? &accept_plain :
		    &spawner_accept,
		.listeners = env->listeners, .n = env->nlisteners,
		.borrowed = true,
	};

	acceptor_listen(s->clients, &setup);
}

/* In any thread. */
static void
wake_to_verify(void *context)
{
	threads_send_one(context, THREADS_VERIFY);
}

static void
drain_thread(struct mt_thread *s)
{
	if (s->spawned != NULL) {
		clients_drain(s->clients);
		return;
	}
	if (s->mt->spawner != NULL)
		spawner_drain(s->mt->spawner);
	acceptor_drain(s->clients);
	threads_ack(&s->thread, THREADS_CLOSED);
}

static void
run_command(struct loop_thread *thread, enum threads_command command)
{
	struct mt_thread	*s = (struct mt_thread *)thread;

	switch (command) {
	case THREADS_SERVE:
		if (s->mt->spawner == NULL)
			listen_thread(s);
		else if (s->spawned == NULL)
			listen_for_others(s);
		break;
	case THREADS_DRAIN:
		drain_thread(s);
		break;
	case THREADS_VERIFY:
		http_verify(s->http);
		break;
	default:
		break;
	}
}

static void
on_spawned(struct loop_thread *thread)
{
	spawner_begin(((struct mt_thread *)thread)->spawned);
}

static void
on_ended(struct loop_thread *thread)
{
	spawner_ended(((struct mt_thread *)thread)->spawned);
}

/*
 * In main's first thread
 */

static void
open_thread(struct mt_thread *s, struct http_setup setup, size_t limit,
    bool accepts)
{
	const struct backends	backends = setup.backends;

	setup.clock = &s->thread.clock;
	setup.schedule_verify = wake_to_verify;
	setup.verify_context = &s->thread;
	backends_share(&s->backends, &backends, s->thread.loop, setup.clock,
	    NULL);
	setup.backends = s->backends;
	s->http = http_new(&setup);
	s->clients = clients_new(s->thread.loop, setup.clock, s->http, limit,
	    accepts ? on_empty : NULL, s);
}

static void
open_pool(struct mt *mt, const struct http_setup *shared)
{
	mt->token = accept_token_new(mt->n);
	for (unsigned i = 0; i < mt->n; i++) {
		open_thread(get_thread(mt, i), *shared, 1, true);
		if (get_conf(mt)->io == IO_SYNCHRONOUS)
			blocking_enable(get_thread(mt, i)->clients);
	}
}

/* A thread that accepts, and those that it makes. */
static void
open_spawner(struct mt *mt, const struct http_setup *shared)
{
	struct mt_thread	*s = get_thread(mt, 0);
	struct spawner_setup	 setup = {
		.by_request = get_conf(mt)->spawn == SPAWN_REQUEST,
		.blocks = get_conf(mt)->io == IO_SYNCHRONOUS,
	};

	open_thread(s, *shared, setup.by_request ?
	    service_connections(&mt->service) : mt->n - 1, true);
	setup.home = s->clients;
	setup.mailbox = mt->mailbox = mailbox_new(s->thread.loop);
	mt->spawner = spawner_new(&setup);
	for (unsigned i = 1; i < mt->n; i++) {
		s = get_thread(mt, i);
		open_thread(s, *shared, 1, false);
		s->spawned = spawner_add(mt->spawner, &s->thread, s->clients,
		    &s->backends);
		if (!setup.by_request)
			listen_thread(s);
	}
}

static void
open_threads(void *context, const struct http_setup *shared)
{
	struct mt	*mt = context;

	mt->n = arch_threads(get_conf(mt)) - 1;
	for (unsigned i = 0; i < mt->n; i++)
		get_thread(mt, i)->mt = mt;
	if (get_conf(mt)->spawn == SPAWN_POOL)
		open_pool(mt, shared);
	else
		open_spawner(mt, shared);
}

/* In any thread.  The thread that accepts counts the connections of all. */
static void
measure_threads(void *context)
{
	const struct mt	*mt = context;
	int64_t		*g = stats_gauges, open = 0, limit = 0;

	for (unsigned i = 0; i < mt->n; i++) {
		clients_measure(get_thread(mt, i)->clients);
		if (i > 0 && mt->spawner != NULL) {
			g[STATS_GAUGE_OPEN] = open;
			g[STATS_GAUGE_OPEN_LIMIT] = limit;
		}
		open = g[STATS_GAUGE_OPEN];
		limit = g[STATS_GAUGE_OPEN_LIMIT];
	}
}

static void
close_threads(struct mt *mt)
{
	struct mt_thread	*s;

	if (mt->spawner != NULL)
		spawner_end(mt->spawner);
	for (unsigned i = 0; i < mt->n; i++) {
		s = get_thread(mt, i);
		acceptor_free(s->clients);
		clients_free(&s->clients);
		backends_end_filters(&s->backends);
		http_free(&s->http);
		backends_close(&s->backends);
	}
	accept_token_free(&mt->token);
	if (mt->spawner == NULL)
		return;
	spawner_free(&mt->spawner);
	mailbox_free(&mt->mailbox);
}

static int
run_mt(const struct main_env *env)
{
	static const struct service_thread_ops	pool = {
		.size = sizeof(struct mt_thread), .on_command = run_command,
		.open = open_threads,
	}, spawned = {
		.size = sizeof(struct mt_thread), .on_command = run_command,
		.open = open_threads, .on_spawned = on_spawned,
		.on_ended = on_ended,
	};
	struct mt	 mt = { .spawner = NULL };
	struct service	*s = &mt.service;
	bool		 spawns = env->conf->spawn != SPAWN_POOL;

	sync_open(s, env);
	s->ops = spawns ? &spawned : &pool;
	if (spawns)
		s->sandbox.roles |= SYSCALL_ROLE_THREADS;
	s->measure = measure_threads;
	s->context = &mt;
	service_run(s, &sync_disk);
	close_threads(&mt);
	service_close(s);
	return 0;
}

const struct arch arch_mt = {
	.name = "mt",
	.help = "a thread for each client, which does its own disk work",
	.worker = "thread",
	.threaded = true,
	.workers = 32,
	.threads = 1,
	.disk_threads = 1,
	.spawns = true,
	.limitations = { [ARCH_LIMITED_CLIENTS] = true },
	.run = run_mt,
};
