/*
 * accept: accepts while there is room, or a connection to evict.
 */
#include <poll.h>

#include "lib/log.h"
#include "loop/accept.h"

#define RETRY_DELAY	1000	/* ms from a pause to the next try */
#define WARN_INTERVAL	60000	/* ms between warnings */

size_t
accept_used(const struct acceptor *a)
{
	const struct clients	*all = a->clients;

	return all->frees_lingering ?
	    all->count - all->list_len[TIMEOUT_LINGER] : all->count;
}

bool
accept_has_room(const struct acceptor *a)
{
	return accept_used(a) < (a->limit == 0 ? DRAIN_ACCEPTS_MAX : a->limit);
}

bool
accept_has_pending(const struct listen_sock *sock)
{
	struct pollfd	p = { .fd = sock->listener.fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

void
accept_set_open(struct acceptor *a, bool open)
{
	a->paused = !open;
	for (size_t i = 0; i < a->nsocks; i++)
		if (a->socks[i].watch != NULL)
			evloop_set(a->socks[i].watch, open ? EVLOOP_READ :
			    EVLOOP_NONE);
}

void
accept_start(struct acceptor *a)
{
	a->clients->on_wait = NULL;
	accept_set_open(a, true);
}

static void
resume_accepting(struct clients *all, enum timeout timeout)
{
	if (timeout == TIMEOUT_LINGER || timeout == TIMEOUT_IDLE)
		accept_start(all->acceptor);
}

void
accept_await_room(struct acceptor *a)
{
	if (a->clients->on_wait == NULL)	/* one-client mode has one */
		a->clients->on_wait = resume_accepting;
	accept_set_open(a, false);
	evloop_arm(a->timer, a->clients->clock->ms + RETRY_DELAY);
}

void
accept_pause(struct acceptor *a)
{
	struct clients	*all = a->clients;
	int64_t		 now = all->clock->ms;

	if (a->warned_at == 0 || now - a->warned_at >= WARN_INTERVAL) {
		log_warnx("no room for more than %zu connections: accepting "
		    "none until one ends; raise the limit of open files "
		    "(ulimit -n) or limits { connections }",
		    all->count < all->limit ? all->count : all->limit);
		a->warned_at = now;
	}
	accept_await_room(a);
	if (all->on_pause != NULL)
		all->on_pause(all);
}

void
accept_tell(const struct acceptor *a, size_t staying)
{
	if (a->setup.on_changed != NULL)
		a->setup.on_changed(a->clients->context, staying);
}

void
accept_opened(struct acceptor *a)
{
	accept_tell(a, a->clients->count);
}

void
accept_closed(struct acceptor *a)
{
	accept_tell(a, a->clients->count);
	if (a->paused && accept_has_room(a))
		accept_start(a);
}

void
accept_limit_lingering(struct clients *all, size_t most)
{
	struct client	*c;

	if (all->list_len[TIMEOUT_LINGER] <= most)
		return;
	c = clients_find_lingering(all);
	if (c == NULL)
		c = TAILQ_FIRST(&all->lists[TIMEOUT_LINGER]);
	clients_wake(c, OUTCOME_CANCELLED);
}

const struct accept_policy	accept_plain = {
	.start = accept_start, .pause = accept_pause, .opened = accept_opened,
	.closed = accept_closed, .tick = accept_start,
};
