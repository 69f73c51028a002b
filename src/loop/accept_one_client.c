/*
 * accept_one_client: one client at a time, each for a slice of time.
 */
#include "loop/accept.h"
#include "shared/accept_token.h"

#define SLICE		100	/* ms */
#define IDLE_TICKS	10	/* slices without activity: evictable */
#define LINGERING_MAX	16	/* connections */

static void
tell_staying(const struct acceptor *a)
{
	accept_tell(a, a->one_client.closing_shared ? 0 : accept_used(a));
}

/* There is room.  If other workers have room as well, the token says who
 * accepts. */
static void
resume_accepting(struct acceptor *a)
{
	if (a->nsocks > 0 && a->setup.claim == NULL)
		accept_set_open(a, a->setup.token == NULL ||
		    accept_token_idle(a->setup.token, a->setup.main));
}

/* If the client has ended, the next one is not asked to close. */
static void
count_ended(struct acceptor *a)
{
	if (accept_used(a) == 0) {
		/* With claim, this mode goes on in a drain. */
		if (a->one_client.closing && !a->clients->draining)
			http_resume(a->clients->http);
		a->one_client.closing = a->one_client.closing_shared = false;
	}
	tell_staying(a);
	if (a->paused && accept_has_room(a))
		resume_accepting(a);
}

static void
on_wait(struct clients *all, enum timeout timeout)
{
	all->acceptor->one_client.idle_ticks = 0;
	if (timeout == TIMEOUT_LINGER)
		count_ended(all->acceptor);
}

static void
pass_token(struct acceptor *a)
{
	if (a->setup.token != NULL)
		accept_token_busy(a->setup.token, a->setup.main);
}

static void
begin_slice(struct acceptor *a)
{
	accept_set_open(a, false);
	pass_token(a);
	evloop_arm(a->timer, a->clients->clock->ms + SLICE);
}

static void
check_room(struct acceptor *a)
{
	if (!accept_has_room(a))
		begin_slice(a);
}

static void
count_opened(struct acceptor *a)
{
	tell_staying(a);
	accept_limit_lingering(a->clients, LINGERING_MAX);
	check_room(a);
}

static bool
others_have_room(const struct acceptor *a)
{
	return a->setup.least != NULL &&
	    a->setup.least(a->clients->context) < a->limit;
}

static bool
any_pending(const struct acceptor *a)
{
	if (a->clients->draining)	/* no connection will be accepted */
		return false;
	for (size_t i = 0; i < a->nsocks; i++)
		if (accept_has_pending(&a->socks[i]))
			return true;
	return false;
}

/* With claim, another thread accepts when this one has ended. */
static void
make_room(struct acceptor *a)
{
	struct clients	*all = a->clients;

	if (clients_find_idle(all) == NULL)
		return;
	if (a->setup.claim == NULL)
		accept_set_open(a, true);
	else if (a->setup.claim(all->context))
		clients_evict(all);
}

/* The slice of the one client is over.  If a connection waits in the queue, the
 * client's next response tells it to close.  Other workers count on that for
 * one slice, so that not all make room for the same connection.  A client that
 * has been idle for IDLE_TICKS slices is evicted by the next accept. */
static void
end_slice(struct acceptor *a)
{
	struct clients	*all = a->clients;
	bool		 was_shared = a->one_client.closing_shared;

	evloop_arm(a->timer, all->clock->ms + SLICE);
	a->one_client.closing_shared = false;
	if (!others_have_room(a) && any_pending(a)) {
		http_drain(all->http);
		a->one_client.closing_shared = !a->one_client.closing;
		a->one_client.closing = true;
		if (a->one_client.idle_ticks >= IDLE_TICKS)
			make_room(a);
	}
	a->one_client.idle_ticks++;
	if (was_shared != a->one_client.closing_shared)
		tell_staying(a);
}

static void
on_tick(struct acceptor *a)
{
	if (accept_has_room(a))
		resume_accepting(a);
	else
		end_slice(a);
}

static void
on_token(void *context)
{
	struct acceptor	*a = context;

	accept_token_reset_fd(a->setup.token, a->setup.main);
	if (accept_has_room(a))
		resume_accepting(a);
	else
		pass_token(a);
}

static void
start_one_client(struct acceptor *a)
{
	struct accept_token	*token = a->setup.token;

	a->clients->frees_lingering = true;
	a->clients->on_wait = on_wait;
	if (token != NULL) {
		a->one_client.token_watch = evloop_watch(a->clients->loop,
		    accept_token_fd(token, a->setup.main), on_token, a);
		evloop_set(a->one_client.token_watch, EVLOOP_READ);
	}
	resume_accepting(a);
}

/* No connection comes after the queued ones, so the mode can end. */
static void
leave_one_client(struct acceptor *a)
{
	evloop_unwatch(&a->one_client.token_watch);
	pass_token(a);
	a->limit = 0;
	a->paused = a->clients->frees_lingering = false;
	a->clients->on_wait = NULL;
}

const struct accept_policy	accept_one_client = {
	.start = start_one_client, .leave = leave_one_client,
	.emptied = check_room, .pause = begin_slice, .opened = count_opened,
	.closed = count_ended, .tick = on_tick,
};
