/*
 * mt: threads with one client at a time each, and shared caches (Flash, section
 * 3.2).  While one thread waits for its client or for a disk, the others go on.
 *
 * Main's first thread has only internal clients.  It handles signals, the
 * monitor, the access logger and the requests of administrators.
 */
#include <stdatomic.h>

#include "arch/sync.h"
#include "loop/acceptor.h"
#include "loop/threads.h"
#include "shared/accept_token.h"

struct mt_thread {
	struct loop_thread	 thread;	/* first: casts rely on it */
	const struct main_env	*env;
	struct http_loop	*http;
	struct backends		 backends;
	struct clients		*clients;
	struct accept_token	*token;		/* of all threads */
	_Atomic size_t		 staying;	/* by on_changed() */
};

struct mt {
	struct service		 service;
	struct accept_token	*token;
};

static struct mt_thread *
get_thread(const struct threads *threads, unsigned i)
{
	return (struct mt_thread *)threads_get(threads, i);
}

static size_t
least_elsewhere(void *context)
{
	const struct mt_thread	*us = context, *s;
	size_t			 n, fewest = SIZE_MAX;

	for (unsigned i = 0; i < us->env->workers; i++) {
		s = get_thread(us->thread.threads, i);
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

static void
listen_thread(struct mt_thread *s)
{
	const struct acceptor_setup	 setup = {
		.policy = &accept_one_client,
		.listeners = s->env->listeners, .n = s->env->nlisteners,
		.borrowed = true,
		.least = least_elsewhere,
		.on_changed = on_changed,
		.token = s->token, .main = s->thread.number - 1,
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
run_command(struct loop_thread *thread, enum threads_command command)
{
	struct mt_thread	*s = (struct mt_thread *)thread;

	switch (command) {
	case THREADS_SERVE:
		listen_thread(s);
		break;
	case THREADS_DRAIN:
		acceptor_drain(s->clients);
		threads_ack(thread, THREADS_CLOSED);
		break;
	case THREADS_VERIFY:
		http_verify(s->http);
		break;
	default:
		break;
	}
}

/*
 * In main's first thread
 */

static void
open_threads(void *context, const struct http_setup *shared)
{
	struct mt		*mt = context;
	const struct main_env	*env = mt->service.env;
	struct http_setup	 setup = *shared;
	struct mt_thread	*s;

	mt->token = accept_token_new(env->workers);
	for (unsigned i = 0; i < env->workers; i++) {
		s = get_thread(mt->service.threads, i);
		s->env = env;
		s->token = mt->token;
		setup.clock = &s->thread.clock;
		setup.schedule_verify = wake_to_verify;
		setup.verify_context = &s->thread;
		backends_share(&s->backends, &shared->backends, s->thread.loop,
		    setup.clock, NULL);
		setup.backends = s->backends;
		s->http = http_new(&setup);
		s->clients = clients_new(s->thread.loop, setup.clock, s->http,
		    1, on_empty, s);
	}
}

/* In any thread. */
static void
measure_threads(void *context)
{
	const struct mt	*mt = context;

	for (unsigned i = 0; i < mt->service.env->workers; i++)
		clients_measure(get_thread(mt->service.threads, i)->clients);
}

static void
close_threads(struct mt *mt)
{
	struct mt_thread	*s;

	for (unsigned i = 0; i < mt->service.env->workers; i++) {
		s = get_thread(mt->service.threads, i);
		acceptor_free(s->clients);
		clients_free(&s->clients);
		backends_end_filters(&s->backends);
		http_free(&s->http);
		backends_close(&s->backends);
	}
	accept_token_free(&mt->token);
}

static int
run_mt(const struct main_env *env)
{
	static const struct service_thread_ops	ops = {
		.size = sizeof(struct mt_thread), .on_command = run_command,
		.open = open_threads,
	};
	struct mt	 mt;
	struct service	*s = &mt.service;

	sync_open(s, env);
	s->ops = &ops;
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
	.limitations = { [ARCH_LIMITED_CLIENTS] = true },
	.run = run_mt,
};
