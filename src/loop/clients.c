/*
 * clients: connections, their waits and their deadlines.  acceptor.c adds
 * connections.
 *
 * Each enum timeout has a list of connections, ordered by deadline, and so has
 * each term of one; one timer looks at the first of each list.
 */
#include <sys/socket.h>

#include <stdlib.h>

#include "backend.h"
#include "lib/compiler.h"
#include "lib/counter.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "loop/accept.h"
#include "stats/stats.h"

/* Deadlines are rounded up to a multiple of this, less one, in ms: then a busy
 * connection often keeps its deadline, and its place in the list. */
#define DEADLINE_GRAIN	64
#define TIMER_SLACK	(100 - DEADLINE_GRAIN)	/* ms of further lateness */
#define NEVER		INT64_MAX
#define TRIM_MIN	256	/* connections: below, mem_trim() is no gain */

void
clients_unlist(struct client *c)
{
	if (!c->listed)
		return;
	TAILQ_REMOVE(&c->all->lists[c->list], c, link);
	counter_add_size(&c->all->list_len[c->timeout], -1);
	c->listed = false;
}

static void
leave_task(struct client *c)
{
	struct task	*e = c->task;

	c->task = NULL;
	TAILQ_REMOVE(&e->waiters, c, waiting);
	if (TAILQ_EMPTY(&e->waiters) && e->abandon != NULL && !e->background)
		e->abandon(e);
}

static void
leave_backend(struct client *c)
{
	c->backend->waiter = NULL;
	c->backend = NULL;
}

/* Leaves what the connection waits for off the net.  Returns the outcome of the
 * wait, PENDING if it goes on: while a program works, the descriptor is watched
 * for the client's end, and reports input as well. */
static NOINLINE enum outcome
stop_waiting(struct client *c, enum outcome outcome)
{
	if (!c->for_backend) {
		leave_task(c);
		return outcome;
	}
	if (outcome == OUTCOME_NONE && c->for_input &&
	    net_has_input(&c->sock))
		outcome = OUTCOME_READY;
	if (outcome == OUTCOME_NONE && net_is_gone(&c->sock))
		outcome = OUTCOME_FAILED;
	if (outcome == OUTCOME_NONE && c->for_end && c->sock.saw_eof)
		outcome = OUTCOME_ENDED;
	if (outcome == OUTCOME_NONE)
		return OUTCOME_PENDING;
	leave_backend(c);
	return outcome;
}

/* Stops the timer: no connection has a deadline. */
static void
stop_timer(struct clients *all)
{
	if (all->timer_at == NEVER)
		return;
	all->timer_at = NEVER;
	evloop_cancel(all->timer);
}

void
clients_check_empty(struct clients *all)
{
	if (all->draining && all->count == 0 && !all->listening &&
	    all->on_empty != NULL)
		all->on_empty(all->context);
}

/* Returns memory to the system when three quarters of many connections have
 * ended, and again when all have. */
static void
return_memory(struct clients *all)
{
	bool	all_gone = all->trimmed_some && all->count == 0;

	if (!all_gone && (all->peak < TRIM_MIN || all->count > all->peak / 4))
		return;
	mem_trim();
	all->trimmed_some = all->count > 0;
	all->peak = all->count;
}

void
clients_close(struct client *c, unsigned flags)
{
	struct clients	*all = c->all->home;
	struct session	*session = c->session;
	struct net_sock	 sock = c->sock;

	clients_unlist(c);
	if (c->task != NULL)
		stop_waiting(c, OUTCOME_CANCELLED);
	evloop_unembed(c);
	machine_free(&session);
	net_close(&sock, flags);
	counter_add_size(&all->count, -1);
	return_memory(all);
	if (all->acceptor != NULL)
		all->acceptor->policy->closed(all->acceptor);
	if (all->count > 0)
		return;
	stop_timer(all);
	clients_check_empty(all);
}

/* Arms the timer for this clock ms, unless it fires earlier. */
static void
set_timer(struct clients *all, int64_t when)
{
	if (when >= all->timer_at)
		return;
	all->timer_at = when;
	evloop_arm(all->timer, when);
}

/* When the timer is to fire for a deadline; that of a refresh is short. */
static int64_t
timer_time(enum timeout timeout, int64_t deadline)
{
	return timeout == TIMEOUT_REFRESH ? deadline : deadline + TIMER_SLACK;
}

/* The list of a wait. */
static int
find_list(const struct wait *w)
{
	return w->term == 0 ? w->timeout : TIMEOUT_COUNT + w->term - 1;
}

/* Deadlines of one list ascend, with few exceptions: the search begins at the
 * end. */
static NOINLINE void
list_again(struct client *c, const struct wait *w, int64_t deadline)
{
	struct clients		*all = c->all;
	struct client_list	*l = &all->lists[find_list(w)];
	struct client		*before;

	clients_unlist(c);
	c->timeout = w->timeout;
	c->list = (uint8_t)find_list(w);
	c->deadline = deadline;
	c->listed = true;
	if (c->list >= all->nlists)
		all->nlists = c->list + 1;
	counter_add_size(&all->list_len[c->timeout], 1);
	before = TAILQ_LAST(l, client_list);
	while (before != NULL && before->deadline > deadline)
		before = TAILQ_PREV(before, client_list, link);
	if (before != NULL)
		TAILQ_INSERT_AFTER(l, before, c, link);
	else
		TAILQ_INSERT_HEAD(l, c, link);
	set_timer(all, timer_time(c->timeout, deadline));
}

static void
list_client(struct client *c, const struct wait *w)
{
	int64_t	deadline = w->deadline | (DEADLINE_GRAIN - 1);

	if (!c->listed || c->list != find_list(w) || c->deadline != deadline)
		list_again(c, w, deadline);
}

/* A layer may leave input unread.  Internal connections may share a descriptor.
 * Its edge is reported when the first watch begins, and not again for the next
 * ones.  So both use READ. */
enum evloop_event
clients_read_event(const struct client *c)
{
	return c->sock.net != NULL ? EVLOOP_READ : c->all->read_event;
}

/* The event of a wait off the net.  The end of the client of a program is seen
 * by an edge: nobody reads the input now, and a level would report it again and
 * again.  A new watch reports an end, or input, that an earlier one has
 * reported; where the input is drained, there is none. */
static NOINLINE enum evloop_event
event_off_net(struct client *c, const struct wait *w)
{
	if (w->kind == WAIT_BACKEND && (w->flags & WAIT_INPUT) != 0) {
		c->sock.drained = false;
		return c->sock.net != NULL && (w->flags & WAIT_LATER) != 0 ?
		    EVLOOP_WRITE : clients_read_event(c);
	}
	if (w->kind != WAIT_BACKEND || c->sock.net != NULL ||
	    !evloop_has_edges(c->all->loop))
		return EVLOOP_NONE;
	return EVLOOP_EDGE;
}

static enum evloop_event
event_for(struct client *c, const struct wait *w, enum net_state state)
{
	return state == NET_READ ? clients_read_event(c) :
	    state == NET_WRITE ? EVLOOP_WRITE : event_off_net(c, w);
}

static void
join_task(struct client *c, const struct wait *w)
{
	c->task = w->task;
	TAILQ_INSERT_TAIL(&w->task->waiters, c, waiting);
}

static void
join_backend(struct client *c, const struct wait *w)
{
	c->backend = w->backend;
	c->backend->waiter = c;
}

static NOINLINE void
file_off_net(struct client *c, const struct wait *w)
{
	if (w->timeout == TIMEOUT_REFRESH)
		list_again(c, w, w->deadline);
	else
		list_client(c, w);
	c->for_backend = w->kind == WAIT_BACKEND;
	c->for_input = (w->flags & WAIT_INPUT) != 0;
	c->for_end = (w->flags & WAIT_ENDING) != 0;
	if (w->kind == WAIT_DISK)
		join_task(c, w);
	else if (c->for_backend)
		join_backend(c, w);
}

void
clients_file(struct client *c, const struct wait *w)
{
	struct clients	*all = c->all;

	/* The kinds of the net come first. */
	if (w->kind >= WAIT_DISK)
		file_off_net(c, w);
	else
		list_client(c, w);
	if (all->on_wait != NULL)
		all->on_wait(all, w->timeout);
}

/* Watches a connection's descriptor while it waits.  An edge is reported once:
 * if input or the end of input is still unread, a new watch makes epoll report
 * it again. */
static void
watch_client(struct client *c, const struct wait *w, enum net_state state)
{
	enum evloop_event	event = event_for(c, w, state);

	clients_file(c, w);
	if (event == EVLOOP_EDGE && !c->sock.drained)
		evloop_set(evloop_watch_of(c), EVLOOP_NONE);
	evloop_set(evloop_watch_of(c), event);
}

void
clients_wait(struct client *c, const struct wait *w, enum net_state state)
{
	if (w->kind == WAIT_CLOSE) {
		clients_close(c, w->flags);
		return;
	}
	machine_park(c->session);
	watch_client(c, w, state);
}

void
clients_run(struct client *c)
{
	const struct clients	*all = c->all;
	struct wait		*w;
	enum net_state		 state;

	do {
		w = machine_run(c->session, all->workspace, all->runs);
		state = net_perform(&c->sock, w);
	} while (state == NET_DONE);
	all->wait(c, w, state);
}

void
clients_wake(struct client *c, enum outcome outcome)
{
	bool	takes = outcome == OUTCOME_TIMED_OUT &&
		    (c->timeout == TIMEOUT_LINGER ||
		    c->timeout == TIMEOUT_LEAVE);

	if (outcome == OUTCOME_TIMED_OUT && c->timeout == TIMEOUT_SEND &&
	    net_has_room(&c->sock))
		outcome = OUTCOME_NONE;
	if (c->task != NULL &&
	    (outcome = stop_waiting(c, outcome)) == OUTCOME_PENDING)
		return;
	machine_wake(c->session, outcome,
	    takes ? (ssize_t)net_unacked(&c->sock) : 0);
	clients_run(c);
}

void
clients_note_ready(struct client *c)
{
	c->sock.saw_eof |= evloop_saw_eof(c);
	c->sock.full = c->sock.drained = false;
}

static void
socket_ready(void *context)
{
	struct client	*c = context;

	clients_note_ready(c);
	clients_wake(c, OUTCOME_NONE);
}

void
clients_finish_task(struct task *e)
{
	struct client	*c;

	e->abandon = NULL;	/* the task is done: waiters may leave */
	e->complete(e);
	while ((c = TAILQ_FIRST(&e->waiters)) != NULL)
		clients_wake(c, OUTCOME_READY);
	e->free(e);
}

static int64_t
next_timer_time(const struct clients *all)
{
	const struct client	*c;
	int64_t			 next = NEVER, when;

	for (int i = 0; i < all->nlists; i++) {
		c = TAILQ_FIRST(&all->lists[i]);
		if (c == NULL)
			continue;
		when = timer_time(c->timeout, c->deadline);
		next = when < next ? when : next;
	}
	return next;
}

/* Whether the connections of a list, which is not empty, wait by a timeout. */
static bool
is_list_of(const struct clients *all, int list, enum timeout timeout)
{
	const struct client	*c = TAILQ_FIRST(&all->lists[list]);

	return c != NULL && c->timeout == timeout;
}

struct client *
clients_find_idle(const struct clients *all)
{
	struct client	*c;

	for (int i = 0; i < all->nlists; i++) {
		if (!is_list_of(all, i, TIMEOUT_IDLE))
			continue;
		TAILQ_FOREACH(c, &all->lists[i], link)
			if (machine_is_idle(c->session))
				return c;
	}
	return NULL;
}

#define SEARCH_MAX	16	/* connections that one search looks at */

/* The first connection of a list whose client has taken all output. */
static struct client *
find_taken_in(const struct clients *all, int list, enum timeout timeout)
{
	struct client	*c;
	unsigned	 left = SEARCH_MAX;

	TAILQ_FOREACH(c, &all->lists[list], link) {
		if (left-- == 0)
			break;
		if ((timeout != TIMEOUT_IDLE || machine_is_idle(c->session)) &&
		    net_unacked(&c->sock) == 0)
			return c;
	}
	return NULL;
}

/* The same of all lists of a timeout. */
static struct client *
find_all_taken(const struct clients *all, enum timeout timeout)
{
	struct client	*c = NULL;

	for (int i = 0; c == NULL && i < all->nlists; i++)
		if (is_list_of(all, i, timeout))
			c = find_taken_in(all, i, timeout);
	return c;
}

struct client *
clients_find_lingering(const struct clients *all)
{
	return find_all_taken(all, TIMEOUT_LINGER);
}

/* The connection whose eviction costs least: one that has sent its last
 * response, else an idle one.  Closing a connection whose client still receives
 * a response destroys that response if the client has sent more input. */
static struct client *
find_evictable(const struct clients *all)
{
	struct client	*c = NULL;

	if (!all->frees_lingering)
		c = clients_find_lingering(all);
	if (c == NULL)
		c = find_all_taken(all, TIMEOUT_IDLE);
	return c != NULL ? c : clients_find_idle(all);
}

static void
on_timer(void *context)
{
	struct clients	*all = context;
	struct client	*c;

	all->timer_at = NEVER;
	clients_run_batch(all);
	for (int i = 0; i < all->nlists; i++)
		while ((c = TAILQ_FIRST(&all->lists[i])) != NULL &&
		    c->deadline <= all->clock->ms) {
			/* Else list_client() might keep it listed. */
			clients_unlist(c);
			clients_wake(c, OUTCOME_TIMED_OUT);
		}
	if (next_timer_time(all) != NEVER)
		set_timer(all, next_timer_time(all));
}

static bool
can_evict(const struct clients *all)
{
	return find_evictable(all) != NULL;
}

bool
clients_evict(struct clients *all)
{
	struct client	*c = find_evictable(all);

	if (c == NULL)
		return false;
	stats_count(STATS_CONNECTIONS_EVICTED);
	clients_wake(c, OUTCOME_CANCELLED);
	return true;
}

void
clients_add(struct clients *all, int fd, struct net *net,
    const struct client_kind *kind, const struct sockaddr *from,
    size_t listener)
{
	struct client	*c = evloop_embed(all->loop, fd, all->on_ready,
			    sizeof(*c));

	/* The connection may have come after the last one was served. */
	clock_update(all->clock);
	c->all = all;
	c->sock = (struct net_sock){ .net = net, .fd = fd, .can_block =
	    net == NULL && (all->accept_flags & SOCK_NONBLOCK) == 0 };
	if (c->sock.can_block && from->sa_family == AF_UNIX)
		net_limit(fd);		/* which inherits nothing */
	c->session = machine_new(all->http, kind, from, listener);
	counter_add_size(&all->count, 1);
	if (all->count > all->peak)
		all->peak = all->count;
	/* Before clients_run(): with sync disk work that may block. */
	if (all->acceptor != NULL)
		all->acceptor->policy->opened(all->acceptor);
	all->begin(c);
}

void
clients_add_internal(struct clients *all, int fd, struct net *net,
    const struct client_kind *kind, size_t listener)
{
	static const struct sockaddr	no_addr = { .sa_family = AF_UNSPEC };

	clients_add(all, fd, net, kind, &no_addr, listener);
}

struct clients *
clients_new(struct evloop *loop, struct clock *clock, struct http_loop *http,
    size_t limit, void (*on_empty)(void *), void *context)
{
	struct clients	*all = mem_zero(sizeof(*all));

	all->loop = loop;
	all->clock = clock;
	all->http = http;
	all->limit = limit;
	all->read_event = evloop_has_edges(loop) ? EVLOOP_EDGE : EVLOOP_READ;
	all->on_ready = socket_ready;
	all->home = all;
	all->accept_flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
	all->wait = clients_wait;
	all->begin = clients_run;
	all->runs = STAGES_ALL;
	all->workspace = machine_new_workspaces(1);
	all->room = mem_get(MACHINE_INPUT_SIZE);
	all->workspace->room = all->room;
	all->workspace->size = MACHINE_INPUT_SIZE;
	all->evict = clients_evict;
	all->can_evict = can_evict;
	all->on_empty = on_empty;
	all->context = context;
	for (int i = 0; i < TIMEOUT_COUNT + WAIT_TERMS_MAX; i++)
		TAILQ_INIT(&all->lists[i]);
	all->nlists = TIMEOUT_COUNT;
	all->timer = evloop_timer(loop, on_timer, all);
	all->timer_at = NEVER;
	return all;
}

size_t
clients_count(const struct clients *all)
{
	return counter_read_size(&all->count);
}

void
clients_measure(const struct clients *all)
{
	static const int	states[TIMEOUT_COUNT] = {
		[TIMEOUT_IDLE] = STATS_STATE_IDLE,
		[TIMEOUT_DRAIN] = STATS_STATE_IDLE,
		[TIMEOUT_READ] = STATS_STATE_READING,
		[TIMEOUT_HEAD] = STATS_STATE_READING,
		[TIMEOUT_BODY] = STATS_STATE_READING,
		[TIMEOUT_SEND] = STATS_STATE_SENDING,
		[TIMEOUT_PACE] = STATS_STATE_SENDING,
		[TIMEOUT_DISK] = STATS_STATE_DISK,
		[TIMEOUT_REFRESH] = STATS_STATE_DISK,
		[TIMEOUT_PROGRAM] = STATS_STATE_PROGRAM,
		[TIMEOUT_LEAVE] = STATS_STATE_PROGRAM,
		[TIMEOUT_LINGER] = STATS_STATE_LINGERING,
	};
	int64_t	*g = stats_gauges;
	int64_t	 n;

	for (int i = 0; i < TIMEOUT_COUNT; i++) {
		n = (int64_t)counter_read_size(&all->list_len[i]);
		g[STATS_GAUGE_STATE_IDLE + states[i]] += n;
		if (states[i] != STATS_STATE_IDLE &&
		    states[i] != STATS_STATE_LINGERING)
			g[STATS_GAUGE_ACTIVE_REQUESTS] += n;
	}
	g[STATS_GAUGE_OPEN] += (int64_t)counter_read_size(&all->count);
	g[STATS_GAUGE_OPEN_LIMIT] += (int64_t)all->limit;
	g[STATS_GAUGE_DRAINING] |= all->draining;
}

void
clients_drain(struct clients *all)
{
	struct client	*c;

	if (all->draining)
		return;
	http_drain(all->http);
	all->draining = true;
	/* Each gets TIMEOUT_DRAIN, and so leaves the list of idle ones. */
	while ((c = clients_find_idle(all)) != NULL)
		clients_wake(c, OUTCOME_NONE);
	clients_check_empty(all);
}

/* As main ends: a response that is under way is logged. */
void
clients_break_off(struct client *c)
{
	machine_break_off(c->session);
	clients_close(c, 0);
}

void
clients_end(struct clients *all)
{
	struct client	*c;

	all->draining = false;
	all->nbatch = 0;
	for (int i = 0; i < all->nlists; i++)
		while ((c = TAILQ_FIRST(&all->lists[i])) != NULL)
			clients_break_off(c);
}

void
clients_free(struct clients **ap)
{
	struct clients	*all = *ap;

	clients_end(all);
	need(all->count == 0);
	evloop_unwatch(&all->timer);
	free(all->workspace);
	free(all->workspaces);
	free(all->room);
	mem_drop(ap);
}
