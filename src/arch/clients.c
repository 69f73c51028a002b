/*
 * clients: connections, their waits and their deadlines.
 *
 * Deadlines stand in one ordered list for each patience; a timer looks at the
 * first of each.
 */
#include <sys/socket.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "arch/clients_private.h"
#include "arch/stages.h"
#include "arch/turns.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "lib/rare.h"
#include "lib/tally.h"
#include "stats.h"

#define ACCEPTS		32	/* a turn, so that old clients get theirs */
#define LAST		4096	/* that a drain still accepts at each door */
#define GRAIN		64	/* ms: deadlines are multiples of that, less
				 * one: who asks often keeps its place */
#define TIMER_GRAIN	(100 - GRAIN)	/* more that a timeout may be late */
#define CLOSED		1000	/* ms until closed doors are tried again */
#define TELL_AGAIN	60000	/* ms: they may open and close all the time */
#define NEVER		INT64_MAX
#define ASIDE		2	/* ms that the queue is left to others */
#define TURN		100	/* ms that the only client has for itself */
#define CALM		10	/* turns without a move: it has gone to sleep */
#define BYGONE		16	/* that may linger beside it */
#define SPARE		4	/* connections that we may have more than they,
				 * and an eighth of theirs */

static void	let_in(struct clients *);

void
clients_unlist(struct client *c)
{
	if (!c->listed)
		return;
	TAILQ_REMOVE(&c->all->lists[c->patience], c, link);
	tally_size(&c->all->listed[c->patience], -1);
	c->listed = false;
}

static APART void
leave_errand(struct client *c)
{
	struct errand	*e = c->errand;

	c->errand = NULL;
	TAILQ_REMOVE(&e->waiters, c, waiting);
	if (TAILQ_EMPTY(&e->waiters) && e->deserted != NULL)
		e->deserted(e);
}

static inline void
stop_waiting(struct client *c)
{
	if (c->errand != NULL)
		leave_errand(c);
}

/* How many there are that count.  Where there is room for one, it has gone when
 * it has had its last response. */
static size_t
taken(const struct clients *all)
{
	return all->turns ? all->count - all->listed[PATIENCE_LINGER] :
	    all->count;
}

static bool
has_room(const struct clients *all)
{
	return taken(all) < (all->last ? LAST : all->limit);
}

/* The one that there was room for may have gone: the next one is to be served
 * like any. */
static void
end_turn(struct clients *all)
{
	if (!all->turns || taken(all) > 0)
		return;
	if (all->parting)
		http_resume(all->http);
	all->parting = all->going = false;
}

/* Nobody is left whose deadline it could be, nor at a closed door. */
static void
rest(struct clients *all)
{
	if (all->closed || all->turns || all->stages != NULL)
		return;
	all->timer_at = NEVER;
	evloop_never(all->timer);
}

void
clients_let_go(struct client *c)
{
	struct clients	*all = stages_host(c->all);
	struct peer	*peer = c->peer;

	clients_unlist(c);
	stop_waiting(c);
	evloop_leave(c);
	machine_free(&peer);
	tally_size(&all->count, -1);
	end_turn(all);
	if (all->changed != NULL)
		all->changed(all->context);
	if (all->closed && !all->draining && has_room(all))
		let_in(all);
	if (all->count > 0)
		return;
	rest(all);
	if (all->draining)
		all->gone(all->context);
}

/* At this time at the latest. */
static void
set_timer(struct clients *all, int64_t when)
{
	if (when >= all->timer_at)
		return;
	all->timer_at = when;
	evloop_at(all->timer, when);
}

/* Deadlines of one patience come in order, nearly always. */
static APART void
list_anew(struct client *c, enum patience patience, int64_t deadline)
{
	struct clients		*all = c->all;
	struct client_list	*l = &all->lists[patience];
	struct client		*before;

	clients_unlist(c);
	c->patience = (uint8_t)patience;
	c->deadline = deadline;
	c->listed = true;
	tally_size(&all->listed[patience], 1);
	before = TAILQ_LAST(l, client_list);
	while (before != NULL && before->deadline > deadline)
		before = TAILQ_PREV(before, client_list, link);
	if (before != NULL)
		TAILQ_INSERT_AFTER(l, before, c, link);
	else
		TAILQ_INSERT_HEAD(l, c, link);
	set_timer(all, deadline + TIMER_GRAIN);
}

static void
list(struct client *c, enum patience patience, int64_t deadline)
{
	deadline |= GRAIN - 1;
	if (!c->listed || c->patience != patience || c->deadline != deadline)
		list_anew(c, patience, deadline);
}

/* What is many's tells of an edge when the first of them begins to watch, and
 * not again to who comes behind it. */
enum evloop_want
clients_reads(const struct client *c)
{
	return c->invited ? EVLOOP_READ : c->all->reads;
}

/* What its descriptor is watched for meanwhile. */
static enum evloop_want
watched(const struct client *c, enum wait_kind kind)
{
	if (kind == WAIT_DISK || kind == WAIT_TIME)
		return EVLOOP_NOTHING;
	return kind == WAIT_WRITE ? EVLOOP_WRITE : clients_reads(c);
}

/* There is one that can make room, or, where there is room for one, it has
 * gone: who waits outside may come in. */
static APART void
dispense(struct clients *all, enum patience patience)
{
	if (patience != PATIENCE_LINGER && (patience != PATIENCE_IDLE ||
	    all->turns))
		return;
	if (all->stages != NULL) {
		stages_ease(all);
		return;
	}
	end_turn(all);
	if (all->turns && all->changed != NULL)
		all->changed(all->context);
	if (all->closed && !all->draining && (!all->turns ||
	    has_room(all)))
		let_in(all);
}

void
clients_keep(struct client *c, const struct wait *w)
{
	struct clients	*all = c->all;

	list(c, w->patience, w->deadline);
	if (all->closed || all->turns || all->stages != NULL)
		dispense(all, w->patience);
	if (w->kind == WAIT_DISK) {
		c->errand = w->errand;
		TAILQ_INSERT_TAIL(&w->errand->waiters, c, waiting);
	}
}

/* Leaves the client with whoever satisfies its wait.  What was told once and
 * left unread is told again to who begins to watch; so is the end, which stands
 * behind whatever is still to be read. */
static void
park(struct client *c, const struct wait *w)
{
	enum evloop_want	want = watched(c, w->kind);

	clients_keep(c, w);
	if (want == EVLOOP_EDGE && (c->ended || machine_unread(c->peer)))
		evloop_want(evloop_host(c), EVLOOP_NOTHING);
	evloop_want(evloop_host(c), want);
}

void
clients_settle(struct client *c, const struct wait *w)
{
	c->all->calm = 0;
	if (w == NULL)
		clients_let_go(c);
	else
		park(c, w);
}

void
clients_run(struct client *c)
{
	if (c->all->stages != NULL)
		stages_run(c);
	else
		clients_settle(c, machine_run(c->peer));
}

void
clients_wake(struct client *c, enum outcome outcome)
{
	stop_waiting(c);
	machine_wake(c->peer, outcome);
	clients_run(c);
}

static void
socket_ready(void *context)
{
	struct client	*c = context;

	c->ended = evloop_saw_end(c);
	clients_wake(c, OUTCOME_READY);
}

void
clients_errand_done(struct errand *e)
{
	struct client	*c;

	e->deserted = NULL;	/* from here on waiters leave content */
	e->done(e);
	while ((c = TAILQ_FIRST(&e->waiters)) != NULL)
		clients_wake(c, OUTCOME_READY);
	e->free(e);
}

static int64_t
first_deadline(const struct clients *all)
{
	const struct client	*c;
	int64_t			 first = NEVER;

	for (int i = 0; i < PATIENCE_COUNT; i++) {
		c = TAILQ_FIRST(&all->lists[i]);
		if (c != NULL && c->deadline < first)
			first = c->deadline;
	}
	return first;
}

/* The one that has been between two requests for longest, or NULL. */
static struct client *
longest_idle(const struct clients *all)
{
	struct client	*c;

	TAILQ_FOREACH(c, &all->lists[PATIENCE_IDLE], link)
		if (machine_idle(c->peer))
			return c;
	return NULL;
}

/* Who costs it least: one that has had its last response, or has nothing to
 * do. */
static struct client *
dispensable(const struct clients *all)
{
	struct client	*c = TAILQ_FIRST(&all->lists[PATIENCE_LINGER]);

	return c != NULL && !all->turns ? c : longest_idle(all);
}

/* Somebody waits at a door. */
static bool
is_awaited(const struct clients *all)
{
	struct pollfd	p = { .events = POLLIN };

	for (size_t i = 0; i < all->ndoors; i++) {
		p.fd = all->doors[i].listener.fd;
		if (poll(&p, 1, 0) == 1)
			return true;
	}
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

	set_timer(all, all->clock->ms + TURN);
	all->going = false;
	if (!others_have_room(all) && is_awaited(all)) {
		http_drain(all->http);
		all->going = !all->parting;
		all->parting = true;
		if (all->calm >= CALM && longest_idle(all) != NULL)
			clients_open_doors(all, true);
	}
	all->calm++;
	if (had != all->going && all->changed != NULL)
		all->changed(all->context);
}

static void
try_doors(struct clients *all)
{
	if (all->turns && !has_room(all))
		next_turn(all);
	else
		let_in(all);
}

static void
timer(void *context)
{
	struct clients	*all = context;
	struct client	*c;

	all->timer_at = NEVER;
	if (all->closed && !all->draining)
		try_doors(all);
	for (int i = 0; i < PATIENCE_COUNT; i++)
		while ((c = TAILQ_FIRST(&all->lists[i])) != NULL &&
		    c->deadline <= all->clock->ms) {
			/* The same deadline is a new one. */
			clients_unlist(c);
			clients_wake(c, OUTCOME_TIMED_OUT);
		}
	if (first_deadline(all) != NEVER)
		set_timer(all, first_deadline(all) + TIMER_GRAIN);
}

bool
clients_evict(struct clients *all)
{
	struct client	*c = dispensable(all);

	if (c == NULL)
		return false;
	stats_count(STATS_MADE_ROOM);
	clients_wake(c, OUTCOME_CANCELLED);
	return true;
}

/* In whichever stage there is one. */
static bool
can_make_room(const struct clients *all)
{
	return all->stages != NULL ? stages_can_make_room(all) :
	    dispensable(all) != NULL;
}

static bool
make_room(struct clients *all)
{
	return all->stages != NULL ? stages_make_room(all) :
	    clients_evict(all);
}

static void
begin_turn(struct clients *all)
{
	if (all->listed[PATIENCE_LINGER] > BYGONE)
		clients_wake(TAILQ_FIRST(&all->lists[PATIENCE_LINGER]),
		    OUTCOME_CANCELLED);
	if (has_room(all))
		return;
	clients_open_doors(all, false);
	if (all->queue != NULL)
		turns_work(all->queue, all->main);
	set_timer(all, all->clock->ms + TURN);
}

static void
welcome(struct clients *all, int fd, const struct transport *transport,
    void *context, const struct sockaddr *from, size_t listener)
{
	struct client	*c = evloop_guest(all->loop, fd, all->ready,
			    sizeof(*c));

	c->all = all;
	c->invited = transport != NULL;
	c->peer = machine_new(all->http, fd, transport, context, from,
	    listener);
	tally_size(&all->count, 1);
	if (all->changed != NULL)
		all->changed(all->context);
	/* Before it may wait for a disk. */
	if (all->turns)
		begin_turn(all);
	clients_run(c);
}

void
clients_invite(struct clients *all, int fd, const struct transport *transport,
    void *context, size_t listener)
{
	static const struct sockaddr	nowhere = { .sa_family = AF_UNSPEC };

	welcome(all, fd, transport, context, &nowhere, listener);
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
	clients_open_doors(all, false);
	if (all->stages != NULL)
		stages_stir(all);
	set_timer(all, now + (all->turns ? TURN : CLOSED));
}

/* Who makes room in another thread has not done so yet. */
static void
no_descriptor(struct clients *all)
{
	if (!make_room(all))
		full(all);
	else if (all->stages != NULL) {
		clients_open_doors(all, false);
		set_timer(all, all->clock->ms + CLOSED);
	}
}

/* They have had their time. */
static void
come_back(void *context)
{
	struct clients	*all = context;

	all->insists = ACCEPTS;
	if (!all->draining && !all->closed)
		clients_open_doors(all, true);
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

static void
knock(void *context)
{
	struct door		*d = context;
	struct sockaddr_storage	 peer;
	socklen_t		 len;
	int			 fd;

	for (int i = 0; i < ACCEPTS && !d->all->closed; i++) {
		if (leave_to_others(d->all))
			return;
		if (!has_room(d->all) && !can_make_room(d->all)) {
			full(d->all);
			return;
		}
		len = sizeof(peer);
		fd = accept4(d->listener.fd, (struct sockaddr *)&peer, &len,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd != -1) {
			/* Only now that somebody has come. */
			if (!has_room(d->all))
				make_room(d->all);
			welcome(d->all, fd, NULL, NULL,
			    (struct sockaddr *)&peer, d->listener.number);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM)
			no_descriptor(d->all);
		if (errno == EAGAIN || errno == EWOULDBLOCK) {
			d->all->insists = 0;
			/* Somebody else's, by now. */
			if (d->all->turns && !has_room(d->all))
				full(d->all);
			return;
		}
	}
}

void
clients_open_doors(struct clients *all, bool open)
{
	all->closed = !open;
	for (size_t i = 0; i < all->ndoors; i++)
		evloop_want(all->doors[i].watch, open ? EVLOOP_READ :
		    EVLOOP_NOTHING);
}

/* There is room, and if there is elsewhere, too, somebody is to see to it. */
static void
let_in(struct clients *all)
{
	clients_open_doors(all, all->queue == NULL ||
	    turns_rest(all->queue, all->main));
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

struct clients *
clients_new(struct evloop *loop, struct clock *clock, struct http *http,
    size_t limit, void (*gone)(void *), void *context)
{
	struct clients	*all = mem_zero(sizeof(*all));

	all->loop = loop;
	all->clock = clock;
	all->http = http;
	all->limit = limit;
	all->reads = evloop_has_edges(loop) ? EVLOOP_EDGE : EVLOOP_READ;
	all->ready = socket_ready;
	all->gone = gone;
	all->context = context;
	for (int i = 0; i < PATIENCE_COUNT; i++)
		TAILQ_INIT(&all->lists[i]);
	all->timer = evloop_timer(loop, timer, all);
	all->timer_at = NEVER;
	all->aside = evloop_timer(loop, come_back, all);
	return all;
}

void
clients_listen(struct clients *all, const struct listener *listeners, size_t n)
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
clients_share(struct clients *all, size_t (*least)(void *),
    void (*changed)(void *))
{
	all->least = least;
	all->changed = changed;
}

void
clients_lent(struct clients *all)
{
	all->lent = true;
}

void
clients_take_turns(struct clients *all, struct turns *queue, unsigned main)
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

size_t
clients_staying(const struct clients *all)
{
	return all->going ? 0 : taken(all);
}

size_t
clients_count(const struct clients *all)
{
	return tally_read_size(&all->count);
}

void
clients_measure(const struct clients *all)
{
	static const int	states[PATIENCE_COUNT] = {
		[PATIENCE_IDLE] = STATS_STATE_IDLE,
		[PATIENCE_PARTING] = STATS_STATE_IDLE,
		[PATIENCE_GAP] = STATS_STATE_READING,
		[PATIENCE_HEAD] = STATS_STATE_READING,
		[PATIENCE_BODY] = STATS_STATE_READING,
		[PATIENCE_SEND] = STATS_STATE_SENDING,
		[PATIENCE_PACE] = STATS_STATE_SENDING,
		[PATIENCE_DISK] = STATS_STATE_DISK,
		[PATIENCE_LINGER] = STATS_STATE_LINGERING,
	};
	int64_t			*g = stats_gauges;
	int64_t			 n;

	for (int i = 0; i < PATIENCE_COUNT; i++) {
		n = (int64_t)tally_read_size(&all->listed[i]);
		g[STATS_GAUGE_STATE_IDLE + states[i]] += n;
		if (states[i] != STATS_STATE_IDLE &&
		    states[i] != STATS_STATE_LINGERING)
			g[STATS_GAUGE_UNDER_WAY] += n;
	}
	g[STATS_GAUGE_OPEN] += (int64_t)tally_read_size(&all->count);
	g[STATS_GAUGE_OPEN_LIMIT] += (int64_t)all->limit;
	g[STATS_GAUGE_DRAINING] |= all->draining;
}

static void
close_doors(struct clients *all)
{
	for (size_t i = 0; i < all->ndoors; i++) {
		evloop_unwatch(&all->doors[i].watch);
		if (!all->lent)
			close(all->doors[i].listener.fd);
	}
	all->ndoors = 0;
}

/* Whoever is in the queue of a socket that nobody else has would be reset. */
static void
welcome_last(struct clients *all)
{
	for (size_t i = 0; i < all->ndoors; i++)
		for (int k = 0; k < LAST / ACCEPTS; k++)
			knock(&all->doors[i]);
}

void
clients_drain(struct clients *all)
{
	struct client	*c;

	if (all->draining)
		return;
	http_drain(all->http);
	all->least = NULL;
	/* Nobody comes after them: no more turns, nor other threads. */
	if (all->turns || all->limit == 0)
		leave_turns(all);
	welcome_last(all);
	close_doors(all);
	all->draining = true;
	/* Each leaves that list: its wait is a shorter one now. */
	while ((c = longest_idle(all)) != NULL)
		clients_wake(c, OUTCOME_READY);
	if (all->count == 0 && all->gone != NULL)
		all->gone(all->context);
}

void
clients_end(struct clients *all)
{
	struct client	*c;

	all->draining = false;
	all->closed = false;
	close_doors(all);
	for (int i = 0; i < PATIENCE_COUNT; i++)
		while ((c = TAILQ_FIRST(&all->lists[i])) != NULL)
			clients_let_go(c);
}

void
clients_free(struct clients **ap)
{
	struct clients	*all = *ap;

	clients_end(all);
	need(all->count == 0);
	free(all->doors);
	if (all->stages != NULL)
		stages_leave(all);
	evloop_unwatch(&all->timer);
	evloop_unwatch(&all->aside);
	evloop_unwatch(&all->bell);
	mem_drop(ap);
}
