/*
 * spawner: connections on their way from home to a thread, and back.
 */
#include <sys/socket.h>

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "lib/counter.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "loop/accept.h"
#include "loop/backends.h"
#include "loop/blocking.h"
#include "loop/spawner.h"

#define RETRY_DELAY	100	/* ms until a thread is tried again */
#define WARN_INTERVAL	60000	/* ms between warnings */

struct spawned {
	struct spawner		*spawner;
	struct loop_thread	*thread;
	struct clients		*clients;
	struct backends		*backends;
	struct client		*client;	/* the first one */
	bool			 has_client;	/* home counts it */
	void			(*wait)(struct client *, const struct wait *,
				    enum net_state); /* the hook before ours */
	struct watch		*kick;		/* timer: starts an iteration */
	struct mail		 mail;		/* to home, at the end */
	LIST_ENTRY(spawned)	 link;		/* of those that do not run */
};

struct spawner {
	struct spawner_setup	 setup;
	struct spawned		 home;		/* stands for home's thread */
	LIST_HEAD(, spawned)	 idle;		/* do not run */
	struct client_list	 queue;		/* for a thread */
	struct watch		*retry_timer;
	int64_t			 warned_at;	/* clock ms; 0: never */
	bool			 draining, ending;
	atomic_bool		 claimed;	/* a thread makes room */
};

/*
 * From home to a thread
 */

/* The connection waits for nothing; its new thread does not run, or its old one
 * touches it no longer. */
static void
move_client(struct client *c, struct clients *to)
{
	clients_unlist(c);
	machine_move(c->session, to->http);
	c->all = to;
	evloop_move(c, to->loop);
}

static void
warn_of_threads(struct spawner *p)
{
	int64_t	now = p->setup.home->clock->ms;

	if (p->warned_at != 0 && now - p->warned_at < WARN_INTERVAL)
		return;
	p->warned_at = now;
	log_warn("cannot start a thread: clients wait until one has ended; "
	    "lower workers, or raise the limit of threads");
}

/* Starts a thread for a connection; false: the system has none. */
static bool
start_thread(struct spawned *s, struct client *c)
{
	struct spawner	*p = s->spawner;

	move_client(c, s->clients);
	counter_add_size(&s->clients->count, 1);
	s->client = c;
	s->has_client = true;
	if (threads_spawn(s->thread)) {
		LIST_REMOVE(s, link);
		return true;
	}
	warn_of_threads(p);
	s->has_client = false;
	counter_add_size(&s->clients->count, -1);
	move_client(c, p->setup.home);
	evloop_arm(p->retry_timer, p->setup.home->clock->ms + RETRY_DELAY);
	return false;
}

/* A thread that threads_end() has ended is not started again: it would not be
 * told another time. */
static void
start_queued(struct spawner *p)
{
	struct client	*c;
	struct spawned	*s;

	while ((c = TAILQ_FIRST(&p->queue)) != NULL &&
	    (s = LIST_FIRST(&p->idle)) != NULL &&
	    !threads_are_ending(s->thread)) {
		TAILQ_REMOVE(&p->queue, c, waiting);
		if (!start_thread(s, c)) {
			TAILQ_INSERT_HEAD(&p->queue, c, waiting);
			break;
		}
	}
}

static void
on_retry_timer(void *context)
{
	start_queued(context);
}

/* Connections that wait come first. */
static void
await_thread(struct client *c)
{
	struct spawner	*p = c->all->spawned->spawner;

	clients_unlist(c);
	evloop_set(evloop_watch_of(c), EVLOOP_NONE);
	TAILQ_INSERT_TAIL(&p->queue, c, waiting);
	start_queued(p);
}

/* In a drain: there are no new threads, so home serves the connection. */
static void
serve_at_home(struct client *c)
{
	if (c->sock.can_block)
		net_unblock(&c->sock);
	clients_wake(c, OUTCOME_NONE);
}

/* Begins a connection that is to have a thread at once. */
static void
begin_session(struct client *c)
{
	struct spawner	*p = c->all->spawned->spawner;

	atomic_store(&p->claimed, false);
	if (p->draining)
		serve_at_home(c);
	else
		await_thread(c);
}

/* Begins a connection whose requests have a thread each: home waits for the
 * first one. */
static void
begin_request(struct client *c)
{
	c->sock.drained = true;
	if (c->all->spawned->spawner->draining)
		serve_at_home(c);
	else
		clients_run(c);
}

/* In home, or in the thread of the connection. */
static void
on_ready(void *context)
{
	struct client		*c = context;
	const struct clients	*all = c->all;

	clients_note_ready(c);
	if (all != all->spawned->spawner->setup.home ||
	    c->timeout == TIMEOUT_LINGER)
		clients_wake(c, OUTCOME_NONE);
	else if (all->draining)
		serve_at_home(c);
	else
		await_thread(c);
}

/*
 * From a thread to home
 */

/* A request that has just come is for a thread: home does not try to read it,
 * but waits for its event. */
static void
deliver_client(struct mail *mail)
{
	struct client	*c = (struct client *)((char *)mail -
			    offsetof(struct client, mail));
	struct spawner	*p = c->all->spawned->spawner;

	if (p->ending)
		clients_break_off(c);
	else if (p->draining)
		serve_at_home(c);
	else {
		c->sock.drained = true;
		clients_wake(c, OUTCOME_NONE);
	}
}

static void
deliver_thread(struct mail *mail)
{
	struct spawned	*s = (struct spawned *)(void *)((char *)mail -
			    offsetof(struct spawned, mail));
	struct spawner	*p = s->spawner;
	struct clients	*home = p->setup.home;

	LIST_INSERT_HEAD(&p->idle, s, link);
	if (s->has_client)
		counter_add_size(&home->count, -1);
	if (p->ending)
		return;
	start_queued(p);
	if (s->has_client)
		home->acceptor->policy->closed(home->acceptor);
	clients_check_empty(home);
}

/* Whether a connection goes back to home: it waits for its client to close, or
 * for its next request, which will have a thread of its own. */
static bool
should_go_home(const struct client *c, const struct wait *w,
    enum net_state state)
{
	return state == NET_READ && (w->timeout == TIMEOUT_LINGER ||
	    (c->all->spawned->spawner->setup.by_request &&
	    machine_is_idle(c->session)));
}

static void
send_home(struct client *c)
{
	struct clients	*all = c->all;
	struct spawned	*s = all->spawned;

	if (all->blocked == c)
		all->blocked = NULL;
	machine_park(c->session);
	move_client(c, s->spawner->setup.home);
	counter_add_size(&all->count, -1);
	s->has_client = false;
	/* Else the next client would be asked to close as this one was. */
	if (all->acceptor != NULL)
		all->acceptor->policy->closed(all->acceptor);
	c->mail.deliver = deliver_client;
	mailbox_post(s->spawner->setup.mailbox, &c->mail);
}

static void
wait_spawned(struct client *c, const struct wait *w, enum net_state state)
{
	if (should_go_home(c, w, state))
		send_home(c);
	else
		c->all->spawned->wait(c, w, state);
}

/* After each iteration; true: the next one begins at once. */
static bool
end_iteration(void *context)
{
	struct spawned	*s = context;
	bool		 more = s->spawner->setup.blocks &&
			    blocking_run(s->clients);

	if (s->clients->count == 0 && backends_rest(s->backends))
		evloop_stop(s->clients->loop);
	return more;
}

static void
do_nothing(void *context)
{
	(void)context;
}

void
spawner_begin(struct spawned *s)
{
	struct clients	*all = s->clients;
	struct client	*c = s->client;

	s->client = NULL;
	if (!s->spawner->setup.by_request)
		c->sock.drained = c->sock.can_block; /* as in blocking.c */
	clock_update(all->clock);
	if (all->acceptor != NULL)
		all->acceptor->policy->opened(all->acceptor);
	clients_wake(c, OUTCOME_NONE);
	if (end_iteration(s))
		evloop_arm(s->kick, all->clock->ms);
}

void
spawner_ended(struct spawned *s)
{
	mailbox_post(s->spawner->setup.mailbox, &s->mail);
}

bool
spawner_claim(struct spawner *p)
{
	return !atomic_exchange(&p->claimed, true);
}

/*
 * The whole
 */

struct spawner *
spawner_new(const struct spawner_setup *setup)
{
	struct spawner	*p = mem_zero(sizeof(*p));
	struct clients	*home = setup->home;

	p->setup = *setup;
	p->home.spawner = p;
	LIST_INIT(&p->idle);
	TAILQ_INIT(&p->queue);
	p->retry_timer = evloop_timer(home->loop, on_retry_timer, p);
	home->spawned = &p->home;
	home->begin = setup->by_request ? begin_request : begin_session;
	home->frees_lingering = !setup->by_request;
	if (setup->by_request)
		home->on_ready = on_ready;
	if (setup->blocks)
		home->accept_flags &= ~SOCK_NONBLOCK;
	return p;
}

struct spawned *
spawner_add(struct spawner *p, struct loop_thread *thread,
    struct clients *clients, struct backends *backends)
{
	struct spawned	*s = mem_zero(sizeof(*s));

	s->spawner = p;
	s->thread = thread;
	s->clients = clients;
	s->backends = backends;
	s->mail.deliver = deliver_thread;
	s->kick = evloop_timer(clients->loop, do_nothing, s);
	if (p->setup.blocks)
		blocking_enable(clients);
	evloop_on_iteration(clients->loop, NULL, NULL);
	evloop_on_iteration(clients->loop, end_iteration, s);
	s->wait = clients->wait;
	clients->wait = wait_spawned;
	clients->spawned = s;
	LIST_INSERT_HEAD(&p->idle, s, link);
	return s;
}

void
spawner_drain(struct spawner *p)
{
	struct clients	*home = p->setup.home;
	struct client	*c;

	p->draining = true;
	http_drain(home->http);
	home->accept_flags |= SOCK_NONBLOCK;
	while ((c = TAILQ_FIRST(&p->queue)) != NULL) {
		TAILQ_REMOVE(&p->queue, c, waiting);
		serve_at_home(c);
	}
}

void
spawner_end(struct spawner *p)
{
	struct client	*c;

	p->ending = true;
	mailbox_deliver(p->setup.mailbox);
	while ((c = TAILQ_FIRST(&p->queue)) != NULL) {
		TAILQ_REMOVE(&p->queue, c, waiting);
		clients_break_off(c);
	}
}

void
spawner_free(struct spawner **pp)
{
	struct spawner	*p = *pp;
	struct spawned	*s;

	while ((s = LIST_FIRST(&p->idle)) != NULL) {
		LIST_REMOVE(s, link);
		evloop_unwatch(&s->kick);
		free(s);
	}
	evloop_unwatch(&p->retry_timer);
	mem_drop(pp);
}

/* A connection that lingers in home has no thread, so it does not count. */
static void
count_opened(struct acceptor *a)
{
	accept_opened(a);
	accept_limit_lingering(a->clients, a->limit);
}

const struct accept_policy	spawner_accept = {
	.start = accept_start, .pause = accept_await_room,
	.opened = count_opened, .closed = accept_closed, .tick = accept_start,
};
