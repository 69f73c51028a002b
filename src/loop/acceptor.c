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

#define ACCEPTS		32	/* a turn, so that old clients get theirs */
#define LAST		4096	/* that a drain still accepts at each door */
#define CLOSED		1000	/* ms until closed doors are tried again */
#define MOMENT		250	/* ms of a drain, for who is at the door */
#define TELL_AGAIN	60000	/* ms: they may open and close all the time */
#define ASIDE		2	/* ms that the queue is left to others */
#define TURN		100	/* ms that the only client has for itself */
#define CALM		10	/* turns without a move: it has gone to sleep */
#define BYGONE		16	/* that may linger beside it */
#define SPARE		4	/* connections that we may have more than they,
				 * and an eighth of theirs */

size_t
doors_taken(const struct clients *all)
{
	return all->turns ? all->count - all->listed[TIMEOUT_LINGER] :
	    all->count;
}

static bool
has_room(const struct clients *all)
{
	return doors_taken(all) < (all->last ? LAST : all->limit);
}

void
doors_open(struct clients *all, bool open)
{
	all->closed = !open;
	for (size_t i = 0; i < all->ndoors; i++)
		if (all->doors[i].watch != NULL)
			evloop_want(all->doors[i].watch, open ? EVLOOP_READ :
			    EVLOOP_NOTHING);
}

/* There are some, which a drain has not yet shut. */
static bool
may_open(const struct clients *all)
{
	return all->closed && (!all->draining || all->ndoors > 0);
}

/* There is room, and if there is elsewhere, too, somebody is to see to it. */
static void
let_in(struct clients *all)
{
	doors_open(all, all->queue == NULL ||
	    turns_rest(all->queue, all->main));
}

/* The one that there was room for may have gone: the next one is to be served
 * like any. */
static void
end_turn(struct clients *all)
{
	if (!all->turns || doors_taken(all) > 0)
		return;
	if (all->parting)
		http_resume(all->http);
	all->parting = all->going = false;
}

void
doors_left(struct clients *all)
{
	end_turn(all);
	if (all->changed != NULL)
		all->changed(all->context);
	if (may_open(all) && has_room(all))
		let_in(all);
}

/* There is one that can make room, or, where there is room for one, it has
 * gone: who waits outside may come in. */
APART void
doors_ease(struct clients *all, enum timeout timeout)
{
	if (timeout != TIMEOUT_LINGER && (timeout != TIMEOUT_IDLE ||
	    all->turns))
		return;
	if (all->stages != NULL) {
		stages_ease(all);
		return;
	}
	end_turn(all);
	if (all->turns && all->changed != NULL)
		all->changed(all->context);
	if (may_open(all) && (!all->turns || has_room(all)))
		let_in(all);
}

/* Beside the client that there is room for. */
static void
limit_lingering(struct clients *all)
{
	struct client	*c;

	if (all->listed[TIMEOUT_LINGER] <= BYGONE)
		return;
	c = clients_through(all);
	if (c == NULL)
		c = TAILQ_FIRST(&all->lists[TIMEOUT_LINGER]);
	clients_wake(c, OUTCOME_CANCELLED);
}

void
doors_entered(struct clients *all)
{
	if (!all->turns)
		return;
	limit_lingering(all);
	if (has_room(all))
		return;
	doors_open(all, false);
	if (all->queue != NULL)
		turns_work(all->queue, all->main);
	clients_timer(all, all->clock->ms + TURN);
}

/* Somebody waits at this door. */
static bool
has_knocked(const struct door *d)
{
	struct pollfd	p = { .fd = d->listener.fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static bool
is_awaited(const struct clients *all)
{
	for (size_t i = 0; i < all->ndoors; i++)
		if (has_knocked(&all->doors[i]))
			return true;
	return false;
}

static bool
others_have_room(const struct clients *all)
{
	return all->least != NULL && all->least(all->context) < all->limit;
}

/* It has had its turn.  Where somebody waits, it is told with its next response
 * that this was the last, and until then, but not for long, others need not
 * make room as well; one that has not moved for long makes room at once. */
static void
next_turn(struct clients *all)
{
	bool	had = all->going;

	clients_timer(all, all->clock->ms + TURN);
	all->going = false;
	if (!others_have_room(all) && is_awaited(all)) {
		http_drain(all->http);
		all->going = !all->parting;
		all->parting = true;
		if (all->calm >= CALM && clients_longest_idle(all) != NULL)
			doors_open(all, true);
	}
	all->calm++;
	if (had != all->going && all->changed != NULL)
		all->changed(all->context);
}

void
doors_try(struct clients *all)
{
	if (all->turns && !has_room(all))
		next_turn(all);
	else if (may_open(all))
		let_in(all);
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
full(struct clients *all)
{
	int64_t	now = all->clock->ms;

	if (!all->turns && (all->told == 0 || now - all->told >= TELL_AGAIN)) {
		log_warnx("no room for more than %zu connections: accepting "
		    "none until one ends; raise the limit of open files "
		    "(ulimit -n) or limits { connections }",
		    all->count < all->limit ? all->count : all->limit);
		all->told = now;
	}
	doors_open(all, false);
	if (all->stages != NULL)
		stages_stir(all);
	clients_timer(all, now + (all->turns ? TURN : CLOSED));
}

/* Who makes room in another thread has not done so yet. */
static void
no_descriptor(struct clients *all)
{
	if (!make_room(all))
		full(all);
	else if (all->stages != NULL) {
		doors_open(all, false);
		clients_timer(all, all->clock->ms + CLOSED);
	}
}

/* They have had their time. */
static void
come_back(void *context)
{
	struct clients	*all = context;

	all->insists = ACCEPTS;
	if (!all->draining && !all->closed)
		doors_open(all, true);
}

/* Who has many more than another main, leaves the queue to that for a moment:
 * else the first to wake would take all of a crowd.  But whom nobody takes even
 * then, is taken. */
static bool
leave_to_others(struct clients *all)
{
	size_t	least;

	if (all->least == NULL)
		return false;
	if (all->insists > 0) {
		all->insists--;
		return false;
	}
	least = all->least(all->context);
	if (least == SIZE_MAX || all->count <= least + least / 8 + SPARE)
		return false;
	for (size_t i = 0; i < all->ndoors; i++)
		evloop_want(all->doors[i].watch, EVLOOP_NOTHING);
	evloop_at(all->aside, all->clock->ms + ASIDE);
	return true;
}

/* They are all in, or somebody else's by now. */
static void
nobody(struct clients *all)
{
	all->insists = 0;
	if (all->turns && !has_room(all))
		full(all);
}

/* The next one; false: there is none, or no room. */
static bool
accept_one(struct door *d)
{
	struct clients		*all = d->all;
	struct sockaddr_storage	 peer;
	socklen_t		 len = sizeof(peer);
	int			 fd;

	if (leave_to_others(all))
		return false;
	if (!has_room(all) && !can_make_room(all)) {
		full(all);
		return false;
	}
	fd = accept4(d->listener.fd, (struct sockaddr *)&peer, &len,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd != -1) {
		/* Only now that somebody has come. */
		if (!has_room(all))
			make_room(all);
		clients_welcome(all, fd, NULL, NULL, (struct sockaddr *)&peer,
		    d->listener.number);
		return true;
	}
	if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
	    errno == ENOMEM)
		no_descriptor(all);
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		return true;
	nobody(all);
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
accept_some(struct door *d)
{
	struct clients	*all = d->all;

	for (int i = 0; i < ACCEPTS && !all->closed; i++) {
		if (i > 0 && !has_knocked(d)) {
			nobody(all);
			return false;
		}
		if (!accept_one(d))
			return false;
	}
	return !all->closed;
}

static void
knock(void *context)
{
	struct door	*d = context;

	batch_run(d->all);
	accept_some(d);
}

static void
rung(void *context)
{
	struct clients	*all = context;

	turns_hush(all->queue, all->main);
	if (has_room(all))
		let_in(all);
	else
		turns_work(all->queue, all->main);
}

void
doors_listen(struct clients *all, const struct listener *listeners, size_t n)
{
	all->doors = mem_array(n, sizeof(all->doors[0]));
	all->ndoors = n;
	for (size_t i = 0; i < n; i++) {
		all->doors[i].all = all;
		all->doors[i].listener = listeners[i];
		all->doors[i].watch = evloop_watch(all->loop, listeners[i].fd,
		    knock, &all->doors[i]);
	}
	let_in(all);
}

void
doors_share(struct clients *all, size_t (*least)(void *),
    void (*changed)(void *))
{
	all->least = least;
	all->changed = changed;
}

void
doors_lent(struct clients *all)
{
	all->lent = true;
}

void
doors_tell_shut(struct clients *all, void (*shut)(void *))
{
	all->shut = shut;
}

void
doors_take_turns(struct clients *all, struct turns *queue, unsigned main)
{
	all->turns = true;
	all->queue = queue;
	all->main = main;
	if (queue == NULL)
		return;
	all->bell = evloop_watch(all->loop, turns_bell(queue, main), rung, all);
	evloop_want(all->bell, EVLOOP_READ);
}

static void
leave_turns(struct clients *all)
{
	evloop_unwatch(&all->bell);
	if (all->queue != NULL)
		turns_work(all->queue, all->main);
	all->queue = NULL;
	all->last = true;
	all->closed = all->turns = all->parting = all->going = false;
}

static void
shut(struct door *d)
{
	if (d->watch == NULL)
		return;
	evloop_unwatch(&d->watch);
	if (!d->all->lent)
		close(d->listener.fd);
}

void
doors_shut(struct clients *all)
{
	for (size_t i = 0; i < all->ndoors; i++)
		shut(&all->doors[i]);
	all->ndoors = 0;
}

static void
shut_all(struct clients *all)
{
	doors_shut(all);
	if (all->shut != NULL)
		all->shut(all->context);
}

static void
moment_over(void *context)
{
	struct clients	*all = context;

	shut_all(all);
	clients_may_be_gone(all);
}

/* What others have as well is shut at once.  At what is bolted there may still
 * be some whom nobody else would hear: their handshake goes on, or the system
 * has kept them until they speak (transport.defer). */
static void
shut_soon(struct clients *all)
{
	struct door	*d;
	bool		 some = false;

	for (size_t i = 0; i < all->ndoors; i++) {
		d = &all->doors[i];
		if (all->lent || !listener_is_bolted(&d->listener))
			shut(d);
		else
			some = true;
	}
	if (!some) {
		shut_all(all);
		return;
	}
	doors_open(all, true);
	all->moment = evloop_timer(all->loop, moment_over, all);
	evloop_at(all->moment, all->clock->ms + MOMENT);
}

/* Whoever is in the queue of a socket that nobody else has would be reset. */
static void
welcome_last(struct clients *all)
{
	for (size_t i = 0; i < all->ndoors; i++)
		for (int k = 0; k < LAST / ACCEPTS; k++)
			if (!accept_some(&all->doors[i]))
				break;
}

void
doors_let_in_last(struct clients *all)
{
	all->least = NULL;
	/* Nobody comes after them: no more turns, nor other threads. */
	if (all->turns || all->limit == 0)
		leave_turns(all);
	welcome_last(all);
	shut_soon(all);
}

void
doors_init(struct clients *all)
{
	all->aside = evloop_timer(all->loop, come_back, all);
}

void
doors_free(struct clients *all)
{
	free(all->doors);
	evloop_unwatch(&all->aside);
	evloop_unwatch(&all->moment);
	evloop_unwatch(&all->bell);
}
