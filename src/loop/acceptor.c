/*
 * acceptor: accepts connections, or leaves them to other mains and threads.
 */
#include <sys/socket.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/compiler.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "loop/acceptor.h"
#include "loop/batch.h"
#include "loop/clients_private.h"
#include "loop/stages.h"
#include "shared/accept_token.h"
#include "shared/listener.h"

#define ACCEPTS_MAX		32	/* in one iteration, for fairness */
#define DRAIN_ACCEPTS_MAX	4096	/* in a drain, from each socket */
#define RETRY_DELAY		1000	/* ms from a pause to the next try */
#define DRAIN_DELAY		250	/* ms that a drain keeps sockets open */
#define WARN_INTERVAL		60000	/* ms between warnings */
#define YIELD_TIME		2	/* ms that others have the queue */
#define SLICE			100	/* ms, in one-client mode */
#define IDLE_TICKS		10	/* slices without activity: evictable */
#define LINGERING_MAX		16	/* connections, in one-client mode */
#define IMBALANCE		4	/* connections beyond what another has,
				 * and an eighth of that */

size_t
acceptor_used(const struct clients *all)
{
	return all->one_client ? all->count - all->list_len[TIMEOUT_LINGER] :
	    all->count;
}

static bool
has_room(const struct clients *all)
{
	return acceptor_used(all) <
	    (all->draining_queue ? DRAIN_ACCEPTS_MAX : all->limit);
}

void
acceptor_set_open(struct clients *all, bool open)
{
	all->paused = !open;
	for (size_t i = 0; i < all->nsocks; i++)
		if (all->socks[i].watch != NULL)
			evloop_set(all->socks[i].watch, open ? EVLOOP_READ :
			    EVLOOP_NONE);
}

/* Accepting is paused, and a drain has not closed all sockets yet. */
static bool
may_resume(const struct clients *all)
{
	return all->paused && (!all->draining || all->nsocks > 0);
}

/* There is room.  If other workers have room as well, the token says who
 * accepts. */
static void
resume_accepting(struct clients *all)
{
	acceptor_set_open(all, all->token == NULL ||
	    accept_token_idle(all->token, all->main));
}

/* In one-client mode: if the client has ended, the next one is not asked to
 * close. */
static void
end_last_client(struct clients *all)
{
	if (!all->one_client || acceptor_used(all) > 0)
		return;
	if (all->closing)
		http_resume(all->http);
	all->closing = all->closing_shared = false;
}

void
acceptor_conn_closed(struct clients *all)
{
	end_last_client(all);
	if (all->on_changed != NULL)
		all->on_changed(all->context);
	if (may_resume(all) && has_room(all))
		resume_accepting(all);
}

NOINLINE void
acceptor_room_freed(struct clients *all, enum timeout timeout)
{
	if (timeout != TIMEOUT_LINGER && (timeout != TIMEOUT_IDLE ||
	    all->one_client))
		return;
	if (all->stages != NULL) {
		stages_room_freed(all);
		return;
	}
	end_last_client(all);
	if (all->one_client && all->on_changed != NULL)
		all->on_changed(all->context);
	if (may_resume(all) && (!all->one_client || has_room(all)))
		resume_accepting(all);
}

/* In one-client mode: connections that linger beside the client. */
static void
limit_lingering(struct clients *all)
{
	struct client	*c;

	if (all->list_len[TIMEOUT_LINGER] <= LINGERING_MAX)
		return;
	c = clients_find_lingering(all);
	if (c == NULL)
		c = TAILQ_FIRST(&all->lists[TIMEOUT_LINGER]);
	clients_wake(c, OUTCOME_CANCELLED);
}

void
acceptor_conn_opened(struct clients *all)
{
	if (!all->one_client)
		return;
	limit_lingering(all);
	if (has_room(all))
		return;
	acceptor_set_open(all, false);
	if (all->token != NULL)
		accept_token_busy(all->token, all->main);
	clients_set_timer(all, all->clock->ms + SLICE);
}

/* A connection waits in the queue of this socket. */
static bool
has_pending(const struct listen_sock *sock)
{
	struct pollfd	p = { .fd = sock->listener.fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static bool
any_pending(const struct clients *all)
{
	for (size_t i = 0; i < all->nsocks; i++)
		if (has_pending(&all->socks[i]))
			return true;
	return false;
}

static bool
others_have_room(const struct clients *all)
{
	return all->least_elsewhere != NULL &&
	    all->least_elsewhere(all->context) < all->limit;
}

/* The slice of the one client is over.  If a connection waits in the queue, the
 * client's next response tells it to close.  Other workers count on that for
 * one slice, so that not all make room for the same connection.  A client that
 * has been idle for IDLE_TICKS slices is evicted by the next accept. */
static void
end_slice(struct clients *all)
{
	bool	was_shared = all->closing_shared;

	clients_set_timer(all, all->clock->ms + SLICE);
	all->closing_shared = false;
	if (!others_have_room(all) && any_pending(all)) {
		http_drain(all->http);
		all->closing_shared = !all->closing;
		all->closing = true;
		if (all->idle_ticks >= IDLE_TICKS &&
		    clients_find_idle(all) != NULL)
			acceptor_set_open(all, true);
	}
	all->idle_ticks++;
	if (was_shared != all->closing_shared && all->on_changed != NULL)
		all->on_changed(all->context);
}

void
acceptor_retry(struct clients *all)
{
	if (all->one_client && !has_room(all))
		end_slice(all);
	else if (may_resume(all))
		resume_accepting(all);
}

static bool
can_make_room(const struct clients *all)
{
	return all->stages != NULL ? stages_can_make_room(all) :
	    clients_can_evict(all);
}

static bool
make_room(struct clients *all)
{
	return all->stages != NULL ? stages_make_room(all) :
	    clients_evict(all);
}

/* There is no room and no connection to evict: pausing avoids a busy loop. */
static void
pause_accepting(struct clients *all)
{
	int64_t	now = all->clock->ms;

	if (!all->one_client && (all->warned_at == 0 ||
	    now - all->warned_at >= WARN_INTERVAL)) {
		log_warnx("no room for more than %zu connections: accepting "
		    "none until one ends; raise the limit of open files "
		    "(ulimit -n) or limits { connections }",
		    all->count < all->limit ? all->count : all->limit);
		all->warned_at = now;
	}
	acceptor_set_open(all, false);
	if (all->stages != NULL)
		stages_poke(all);
	clients_set_timer(all, now + (all->one_client ? SLICE : RETRY_DELAY));
}

/* With stages another thread evicts, later: accepting pauses until then. */
static void
handle_fd_shortage(struct clients *all)
{
	if (!make_room(all))
		pause_accepting(all);
	else if (all->stages != NULL) {
		acceptor_set_open(all, false);
		clients_set_timer(all, all->clock->ms + RETRY_DELAY);
	}
}

/* The others had their time: the connections that are left are accepted. */
static void
end_yield(void *context)
{
	struct clients	*all = context;

	all->forced_accepts = ACCEPTS_MAX;
	if (!all->draining && !all->paused)
		acceptor_set_open(all, true);
}

/* A worker with many more connections than another one leaves the queue to the
 * others for YIELD_TIME: otherwise the first to wake would take all of many
 * that arrive at once.  After the yield it accepts what is left. */
static bool
yield_to_others(struct clients *all)
{
	size_t	least;

	if (all->least_elsewhere == NULL)
		return false;
	if (all->forced_accepts > 0) {
		all->forced_accepts--;
		return false;
	}
	least = all->least_elsewhere(all->context);
	if (least == SIZE_MAX || all->count <= least + least / 8 + IMBALANCE)
		return false;
	for (size_t i = 0; i < all->nsocks; i++)
		evloop_set(all->socks[i].watch, EVLOOP_NONE);
	evloop_arm(all->yield_timer, all->clock->ms + YIELD_TIME);
	return true;
}

/* No connection is queued any more. */
static void
queue_emptied(struct clients *all)
{
	all->forced_accepts = 0;
	if (all->one_client && !has_room(all))
		pause_accepting(all);
}

/* Accepts the next connection; false: there is none, or no room. */
static bool
accept_one(struct listen_sock *sock)
{
	struct clients		*all = sock->all;
	struct sockaddr_storage	 addr;
	socklen_t		 len = sizeof(addr);
	int			 fd;

	if (yield_to_others(all))
		return false;
	if (!has_room(all) && !can_make_room(all)) {
		pause_accepting(all);
		return false;
	}
	fd = accept4(sock->listener.fd, (struct sockaddr *)&addr, &len,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd != -1) {
		/* Evicting waits until a connection is there. */
		if (!has_room(all))
			make_room(all);
		clients_add(all, fd, NULL, NULL, (struct sockaddr *)&addr,
		    sock->listener.number);
		return true;
	}
	if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
	    errno == ENOMEM)
		handle_fd_shortage(all);
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		return true;
	queue_emptied(all);
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
	struct clients	*all = sock->all;

	for (int i = 0; i < ACCEPTS_MAX && !all->paused; i++) {
		if (i > 0 && !has_pending(sock)) {
			queue_emptied(all);
			return false;
		}
		if (!accept_one(sock))
			return false;
	}
	return !all->paused;
}

static void
on_accept(void *context)
{
	struct listen_sock	*sock = context;

	batch_run(sock->all);
	accept_some(sock);
}

static void
on_token(void *context)
{
	struct clients	*all = context;

	accept_token_reset_fd(all->token, all->main);
	if (has_room(all))
		resume_accepting(all);
	else
		accept_token_busy(all->token, all->main);
}

void
acceptor_listen(struct clients *all, const struct listener *listeners, size_t n)
{
	all->socks = mem_array(n, sizeof(all->socks[0]));
	all->nsocks = n;
	for (size_t i = 0; i < n; i++) {
		all->socks[i].all = all;
		all->socks[i].listener = listeners[i];
		all->socks[i].watch = evloop_watch(all->loop, listeners[i].fd,
		    on_accept, &all->socks[i]);
	}
	resume_accepting(all);
}

void
acceptor_share(struct clients *all, size_t (*least)(void *),
    void (*on_changed)(void *))
{
	all->least_elsewhere = least;
	all->on_changed = on_changed;
}

void
acceptor_borrow(struct clients *all)
{
	all->fds_borrowed = true;
}

void
acceptor_on_closed(struct clients *all, void (*on_closed)(void *))
{
	all->on_closed = on_closed;
}

void
acceptor_one_client(struct clients *all, struct accept_token *token,
    unsigned main)
{
	all->one_client = true;
	all->token = token;
	all->main = main;
	if (token == NULL)
		return;
	all->token_watch = evloop_watch(all->loop,
	    accept_token_fd(token, main), on_token, all);
	evloop_set(all->token_watch, EVLOOP_READ);
}

static void
leave_one_client(struct clients *all)
{
	evloop_unwatch(&all->token_watch);
	if (all->token != NULL)
		accept_token_busy(all->token, all->main);
	all->token = NULL;
	all->draining_queue = true;
	all->paused = all->one_client = false;
	all->closing = all->closing_shared = false;
}

static void
close_sock(struct listen_sock *sock)
{
	if (sock->watch == NULL)
		return;
	evloop_unwatch(&sock->watch);
	if (!sock->all->fds_borrowed)
		close(sock->listener.fd);
}

void
acceptor_close(struct clients *all)
{
	for (size_t i = 0; i < all->nsocks; i++)
		close_sock(&all->socks[i]);
	all->nsocks = 0;
}

static void
close_all(struct clients *all)
{
	acceptor_close(all);
	if (all->on_closed != NULL)
		all->on_closed(all->context);
}

static void
on_drain_timer(void *context)
{
	struct clients	*all = context;

	close_all(all);
	clients_check_empty(all);
}

/* Closes at once the sockets that other processes have as well.  A blocked
 * socket stays open for DRAIN_DELAY: no other process accepts its connections
 * whose handshake goes on, or which the system holds until they send
 * (transport.defer). */
static void
close_soon(struct clients *all)
{
	struct listen_sock	*sock;
	bool			 blocked = false;

	for (size_t i = 0; i < all->nsocks; i++) {
		sock = &all->socks[i];
		if (all->fds_borrowed || !listener_is_blocked(&sock->listener))
			close_sock(sock);
		else
			blocked = true;
	}
	if (!blocked) {
		close_all(all);
		return;
	}
	acceptor_set_open(all, true);
	all->drain_timer = evloop_timer(all->loop, on_drain_timer, all);
	evloop_arm(all->drain_timer, all->clock->ms + DRAIN_DELAY);
}

/* Connections left in the queue of a socket that no other process has would be
 * reset when it is closed. */
static void
accept_queued(struct clients *all)
{
	for (size_t i = 0; i < all->nsocks; i++)
		for (int k = 0; k < DRAIN_ACCEPTS_MAX / ACCEPTS_MAX; k++)
			if (!accept_some(&all->socks[i]))
				break;
}

void
acceptor_drain(struct clients *all)
{
	all->least_elsewhere = NULL;
	/* No connection comes after these, so one-client mode can end. */
	if (all->one_client || all->limit == 0)
		leave_one_client(all);
	accept_queued(all);
	close_soon(all);
}

void
acceptor_init(struct clients *all)
{
	all->yield_timer = evloop_timer(all->loop, end_yield, all);
}

void
acceptor_free(struct clients *all)
{
	free(all->socks);
	evloop_unwatch(&all->yield_timer);
	evloop_unwatch(&all->drain_timer);
	evloop_unwatch(&all->token_watch);
}
