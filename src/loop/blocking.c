/*
 * blocking: performs the operation of the one client that waits, again and
 * again, and waits in it for NET_WAIT_MS at a time.
 *
 * Between two such times the loop runs an iteration, for deadlines, signals and
 * commands.  A second connection, and one that lingers or drains, waits for
 * readiness, as in other loops.
 */
#include <sys/socket.h>

#include "loop/blocking.h"
#include "loop/clients_private.h"
#include "shared/listener.h"

static bool
may_block(const struct client *c, const struct wait *w)
{
	const struct clients	*all = c->all;

	return all->blocked == NULL && !all->draining &&
	    w->timeout != TIMEOUT_LINGER;
}

/* Lets the connection wait in its operation, or as in other loops. */
static void
wait_blocking(struct client *c, const struct wait *w, enum net_state state)
{
	struct clients	*all = c->all;
	bool		 net = state == NET_READ || state == NET_WRITE;

	if (all->blocked == c)
		all->blocked = NULL;
	if (net && c->sock.can_block && !may_block(c, w))
		net_unblock(&c->sock);
	if (!net || !c->sock.can_block) {
		clients_wait(c, w, state);
		return;
	}
	machine_park(c->session);
	clients_file(c, w);
	evloop_set(evloop_watch_of(c), EVLOOP_NONE);
	all->blocked = c;
}

/* Whether the wait goes on: the same operation has brought nothing, so its
 * deadline and class stay, though clients_file() would set others. */
static bool
should_wait_on(const struct client *c, const struct wait *w,
    enum net_state state)
{
	bool	sent = c->timeout == TIMEOUT_SEND;

	return c->listed && state == (sent ? NET_WRITE : NET_READ) &&
	    may_block(c, w);
}

/* Performs an operation.  When the time of this iteration is over, only one
 * that does not wait; the end of the output is told at once. */
static enum net_state
perform_wait(struct client *c, struct wait *w, bool is_over)
{
	enum net_state	state;

	if (is_over && w->kind == WAIT_READ && w->deadline != 0) {
		net_shape(&c->sock, w);
		return NET_READ;
	}
	if (is_over && (w->kind == WAIT_WRITE || w->kind == WAIT_SEND))
		return NET_WRITE;
	state = net_perform_waiting(&c->sock, w);
	clock_update(c->all->clock);
	return state;
}

static void
run_client(struct client *c, int64_t end)
{
	struct clients	*all = c->all;
	bool		 moved = false;
	struct wait	*w;
	enum net_state	 state;

	c->sock.drained = c->sock.full = false;
	machine_wake(c->session, OUTCOME_NONE, 0);
	for (;;) {
		w = machine_run(c->session, all->workspace, all->runs);
		state = perform_wait(c, w, all->clock->ms >= end);
		if (state != NET_DONE)
			break;
		moved = true;
	}
	if (moved || !should_wait_on(c, w, state)) {
		all->wait(c, w, state);
		return;
	}
	machine_park(c->session);
	all->blocked = c;
}

bool
blocking_run(void *clients)
{
	struct clients	*all = clients;
	int64_t		 end = all->clock->ms + NET_WAIT_MS;
	struct client	*c;

	while ((c = all->blocked) != NULL && all->clock->ms < end) {
		all->blocked = NULL;
		run_client(c, end);
	}
	return all->blocked != NULL;
}

/* The first operation is one that waits, too. */
static void
begin_blocking(struct client *c)
{
	c->sock.drained = c->sock.can_block;
	clients_run(c);
}

void
blocking_prepare(const struct listener *listeners, size_t n)
{
	for (size_t i = 0; i < n; i++)
		net_limit(listeners[i].fd);
}

void
blocking_enable(struct clients *all)
{
	all->wait = wait_blocking;
	all->begin = begin_blocking;
	all->accept_flags &= ~SOCK_NONBLOCK;
	evloop_on_iteration(all->loop, blocking_run, all);
	evloop_stop_timing(all->loop);
}
