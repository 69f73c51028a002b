/*
 * acceptor: accepts connections as a policy says.
 */
#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/mem.h"
#include "loop/accept.h"

#define DRAIN_DELAY	250	/* ms that a drain keeps sockets open */

/* A connection that another thread evicts ends later. */
static void
handle_fd_shortage(struct acceptor *a)
{
	struct clients	*all = a->clients;
	size_t		 count = all->count;

	if (!all->evict(all))
		a->policy->pause(a);
	else if (all->count == count)
		accept_await_room(a);
}

static void
report_emptied(struct acceptor *a)
{
	if (a->policy->emptied != NULL)
		a->policy->emptied(a);
}

/* Accepts the next connection; false: there is none, or no room. */
static bool
accept_one(struct listen_sock *sock)
{
	struct acceptor		*a = sock->acceptor;
	struct clients		*all = a->clients;
	struct sockaddr_storage	 addr;
	socklen_t		 len = sizeof(addr);
	int			 fd;

	if (a->policy->yield != NULL && a->policy->yield(a))
		return false;
	if (!accept_has_room(a) && !all->can_evict(all)) {
		a->policy->pause(a);
		return false;
	}
	fd = accept4(sock->listener.fd, (struct sockaddr *)&addr, &len,
	    all->accept_flags);
	if (fd != -1) {
		/* Evicting waits until a connection is there. */
		if (!accept_has_room(a))
			all->evict(all);
		clients_add(all, fd, NULL, NULL, (struct sockaddr *)&addr,
		    sock->listener.number);
		return true;
	}
	if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
	    errno == ENOMEM)
		handle_fd_shortage(a);
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		return true;
	report_emptied(a);
	return false;
}

/*
 * Returns whether more connections may be queued.
 *
 * After the first accept, poll() is asked before each further one: an accept4()
 * in vain costs a tenth of a connection, since Linux allocates a file before it
 * looks at the queue; poll() costs an eighth of that.
 */
static bool
accept_some(struct listen_sock *sock)
{
	struct acceptor	*a = sock->acceptor;

	for (int i = 0; i < ACCEPTS_MAX && !a->paused; i++) {
		if (i > 0 && !accept_has_pending(sock)) {
			report_emptied(a);
			return false;
		}
		if (!accept_one(sock))
			return false;
	}
	return !a->paused;
}

static void
on_accept(void *context)
{
	struct listen_sock	*sock = context;

	clients_run_batch(sock->acceptor->clients);
	accept_some(sock);
}

static void
on_timer(void *context)
{
	struct acceptor	*a = context;

	a->policy->tick(a);
}

void
acceptor_listen(struct clients *all, const struct acceptor_setup *setup)
{
	struct acceptor		*a = mem_zero(sizeof(*a));
	struct listen_sock	*sock;

	all->acceptor = a;
	all->listening = true;
	a->clients = all;
	a->policy = setup->policy;
	a->setup = *setup;
	a->limit = all->limit;
	a->timer = evloop_timer(all->loop, on_timer, a);
	a->socks = mem_array(setup->n, sizeof(a->socks[0]));
	a->nsocks = setup->n;
	for (size_t i = 0; i < a->nsocks; i++) {
		sock = &a->socks[i];
		sock->acceptor = a;
		sock->listener = setup->listeners[i];
		sock->watch = evloop_watch(all->loop, sock->listener.fd,
		    on_accept, sock);
	}
	a->policy->start(a);
}

static void
close_sock(struct listen_sock *sock)
{
	if (sock->watch == NULL)
		return;
	evloop_unwatch(&sock->watch);
	if (!sock->acceptor->setup.borrowed)
		close(sock->listener.fd);
}

static void
close_all(struct acceptor *a)
{
	for (size_t i = 0; i < a->nsocks; i++)
		close_sock(&a->socks[i]);
	a->nsocks = 0;
	a->clients->listening = false;
}

static void
end_listening(struct acceptor *a)
{
	close_all(a);
	if (a->setup.on_closed != NULL)
		a->setup.on_closed(a->clients->context);
}

static void
on_drain_timer(void *context)
{
	struct acceptor	*a = context;

	end_listening(a);
	clients_check_empty(a->clients);
}

/* Closes at once the sockets that other processes have as well.  A blocked
 * socket stays open for DRAIN_DELAY: no other process accepts its connections
 * whose handshake goes on, or which the system holds until they send
 * (transport.defer). */
static void
close_soon(struct acceptor *a)
{
	struct listen_sock	*sock;
	bool			 blocked = false;

	for (size_t i = 0; i < a->nsocks; i++) {
		sock = &a->socks[i];
		if (a->setup.borrowed || !listener_is_blocked(&sock->listener))
			close_sock(sock);
		else
			blocked = true;
	}
	if (!blocked) {
		end_listening(a);
		return;
	}
	accept_set_open(a, true);
	a->drain_timer = evloop_timer(a->clients->loop, on_drain_timer, a);
	evloop_arm(a->drain_timer, a->clients->clock->ms + DRAIN_DELAY);
}

/* Connections left in the queue of a socket that no other process has would be
 * reset when it is closed. */
static void
accept_queued(struct acceptor *a)
{
	for (size_t i = 0; i < a->nsocks; i++)
		for (int k = 0; k < DRAIN_ACCEPTS_MAX / ACCEPTS_MAX; k++)
			if (!accept_some(&a->socks[i]))
				break;
}

static void
drain_acceptor(struct acceptor *a)
{
	http_drain(a->clients->http);
	if (a->policy->leave != NULL)
		a->policy->leave(a);
	a->policy = &accept_plain;
	accept_queued(a);
	close_soon(a);
}

void
acceptor_set_limit(struct clients *all, size_t limit)
{
	struct acceptor	*a = all->acceptor;

	all->limit = limit;
	if (a == NULL || all->draining)
		return;
	a->limit = limit;
	if (a->paused && accept_has_room(a))
		accept_start(a);
}

void
acceptor_drain(struct clients *all)
{
	/* Connections of a batch are idle, and may end below. */
	clients_run_batch(all);
	if (all->acceptor != NULL && !all->draining)
		drain_acceptor(all->acceptor);
	clients_drain(all);
}

void
acceptor_free(struct clients *all)
{
	struct acceptor	*a = all->acceptor;

	if (a == NULL)
		return;
	close_all(a);
	clients_end(all);
	all->acceptor = NULL;
	evloop_unwatch(&a->timer);
	evloop_unwatch(&a->drain_timer);
	evloop_unwatch(&a->one_client.token_watch);
	free(a->socks);
	free(a);
}
