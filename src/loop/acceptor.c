/*
 * acceptor: accepts clients, or leaves them to others.
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

#define ACCEPTS_MAX		32	/* a turn, so that old clients get theirs */
#define DRAIN_ACCEPTS_MAX		4096	/* that a drain still accepts at each door */
#define RETRY_DELAY		1000	/* ms until closed doors are tried again */
#define DRAIN_DELAY		250	/* ms of a drain, for who is at the door */
#define WARN_INTERVAL	60000	/* ms: they may open and close all the time */
#define YIELD_TIME		2	/* ms that the queue is left to others */
#define SLICE		100	/* ms that the only client has for itself */
#define IDLE_TICKS		10	/* turns without a move: it has gone to sleep */
#define LINGERING_MAX		16	/* that may linger beside it */
#define IMBALANCE		4	/* connections that we may have more than they,
				 * and an eighth of theirs */

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

/* There are some, which a drain has not yet shut. */
static bool
may_resume(const struct clients *all)
{
	return all->paused && (!all->draining || all->nsocks > 0);
}

/* There is room, and if there is elsewhere, too, somebody is to see to it. */
static void
resume_accepting(struct clients *all)
{
	acceptor_set_open(all, all->token == NULL ||
	    accept_token_idle(all->token, all->main));
}

/* The one that there was room for may have gone: the next one is to be served
 * like any. */
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

/* There is one that can make room, or, where there is room for one, it has
 * gone: who waits outside may come in. */
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

/* Beside the client that there is room for. */
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

/* Somebody waits at this door. */
static bool
has_pending(const struct listen_sock *d)
{
	struct pollfd	p = { .fd = d->listener.fd, .events = POLLIN };

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

/* It has had its turn.  Where somebody waits, it is told with its next response
 * that this was the last, and until then, but not for long, others need not
 * make room as well; one that has not moved for long makes room at once. */
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

/* In whichever stage there is one. */
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

/* No room and nobody to go: wait for one to end rather than spin. */
static void
pause_accepting(struct clients *all)
{
	int64_t	now = all->clock->ms;

	if (!all->one_client &&
	    (all->warned_at == 0 || now - all->warned_at >= WARN_INTERVAL)) {
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

/* Who makes room in another thread has not done so yet. */
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

/* They have had their time. */
static void
end_yield(void *context)
{
	struct clients	*all = context;

	all->forced_accepts = ACCEPTS_MAX;
	if (!all->draining && !all->paused)
		acceptor_set_open(all, true);
}

/* Who has many more than another main, leaves the queue to that for a moment:
 * else the first to wake would take all of a crowd.  But whom nobody takes even
 * then, is taken. */
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

/* They are all in, or somebody else's by now. */
static void
queue_emptied(struct clients *all)
{
	all->forced_accepts = 0;
	if (all->one_client && !has_room(all))
		pause_accepting(all);
}

/* The next one; false: there is none, or no room. */
static bool
accept_one(struct listen_sock *d)
{
	struct clients		*all = d->all;
	struct sockaddr_storage	 addr;
	socklen_t		 len = sizeof(addr);
	int			 fd;

	if (yield_to_others(all))
		return false;
	if (!has_room(all) && !can_make_room(all)) {
		pause_accepting(all);
		return false;
	}
	fd = accept4(d->listener.fd, (struct sockaddr *)&addr, &len,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd != -1) {
		/* Only now that somebody has come. */
		if (!has_room(all))
			make_room(all);
		clients_add(all, fd, NULL, NULL, (struct sockaddr *)&addr,
		    d->listener.number);
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
 * Whether there may be more.
 *
 * After the first, whether there is another one is asked before it is accepted:
 * in vain that costs as much as a tenth of a connection, since Linux makes a
 * file first, and only then looks whom for; to ask costs an eighth of it.
 */
static bool
accept_some(struct listen_sock *d)
{
	struct clients	*all = d->all;

	for (int i = 0; i < ACCEPTS_MAX && !all->paused; i++) {
		if (i > 0 && !has_pending(d)) {
			queue_emptied(all);
			return false;
		}
		if (!accept_one(d))
			return false;
	}
	return !all->paused;
}

static void
on_accept(void *context)
{
	struct listen_sock	*d = context;

	batch_run(d->all);
	accept_some(d);
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
acceptor_one_client(
    struct clients *all, struct accept_token *token, unsigned main)
{
	all->one_client = true;
	all->token = token;
	all->main = main;
	if (token == NULL)
		return;
	all->token_watch = evloop_watch(
	    all->loop, accept_token_fd(token, main), on_token, all);
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
	all->paused = all->one_client = all->closing = all->closing_shared =
	    false;
}

static void
close_sock(struct listen_sock *d)
{
	if (d->watch == NULL)
		return;
	evloop_unwatch(&d->watch);
	if (!d->all->fds_borrowed)
		close(d->listener.fd);
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

/* What others have as well is shut at once.  At what is bolted there may still
 * be some whom nobody else would hear: their handshake goes on, or the system
 * has kept them until they speak (transport.defer). */
static void
close_soon(struct clients *all)
{
	struct listen_sock	*d;
	bool		 bolted = false;

	for (size_t i = 0; i < all->nsocks; i++) {
		d = &all->socks[i];
		if (all->fds_borrowed || !listener_is_blocked(&d->listener))
			close_sock(d);
		else
			bolted = true;
	}
	if (!bolted) {
		close_all(all);
		return;
	}
	acceptor_set_open(all, true);
	all->drain_timer = evloop_timer(all->loop, on_drain_timer, all);
	evloop_arm(all->drain_timer, all->clock->ms + DRAIN_DELAY);
}

/* Whoever is in the queue of a socket that nobody else has would be reset. */
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
	/* Nobody comes after them: no more turns, nor other threads. */
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
