/*
 * evloop: libevent, as little of it as will do.
 *
 * One event a descriptor, changed only when a connection waits for something
 * else than before: a hot request never does.
 */
#include <sys/param.h>

#include <event2/event.h>
#include <event2/event_struct.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/compiler.h"
#include "lib/lock.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "lib/slab.h"
#include "loop/evloop.h"
#include "stats/stats.h"

#define EDGES	(EV_FEATURE_ET | EV_FEATURE_EARLY_CLOSE)

struct evloop {
	struct event_base	*base;
	struct clock		*clock;
	int64_t			 begun;		/* this turn, us; 0: not yet */
	bool			 untimed;
	bool			 edges;		/* are known here */
	bool			 (*more)(void *);	/* or NULL */
	void			*context;		/* its */
	void			*owner;
};

struct watch {
	struct event		 event;
	struct evloop		*loop;
	void			(*callback)(void *);
	void			*guest[];	/* or, first, the context */
};

static void
from_libevent(int severity, const char *message)
{
	if (severity == EVENT_LOG_ERR)
		log_errorx("libevent: %s", message);
	else if (severity == EVENT_LOG_WARN)
		log_warnx("libevent: %s", message);
}

/*
 * Memory of libevent, which never frees what it has allocated for a descriptor.
 * Among pieces of clients that have gone, each of these would keep a page.
 */
static struct pool	memory;
static struct lock	*memory_lock;		/* NULL: of one thread */

struct sized {
	size_t	 size;		/* of all */
	char	 bytes[];
};

static void *
get_piece(size_t n)
{
	struct sized	*p;

	lock_take(memory_lock);
	p = pool_get(&memory, sizeof(*p) + n);
	lock_release(memory_lock);
	p->size = sizeof(*p) + n;
	return p->bytes;
}

static void
put_piece(void *bytes)
{
	struct sized	*p;

	if (bytes == NULL)
		return;
	p = (struct sized *)(void *)((char *)bytes - sizeof(*p));
	lock_take(memory_lock);
	pool_put(&memory, p, p->size);
	lock_release(memory_lock);
}

static void *
move_piece(void *bytes, size_t n)
{
	const struct sized	*old;
	void			*p = get_piece(n);

	if (bytes == NULL)
		return p;
	old = (const struct sized *)(void *)((char *)bytes - sizeof(*old));
	memcpy(p, bytes, MIN(n, old->size - sizeof(*old)));
	put_piece(bytes);
	return p;
}

void
evloop_pool_memory(bool threads)
{
	pool_init(&memory);
	if (threads)
		memory_lock = lock_new();
	event_set_mem_functions(get_piece, move_piece, put_piece);
}

struct evloop *
evloop_new(struct clock *clock)
{
	struct evloop		*l = mem_zero(sizeof(*l));
	struct event_config	*config = event_config_new();

	event_set_log_callback(from_libevent);
	need(config != NULL);
	event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
	l->base = event_base_new_with_config(config);
	event_config_free(config);
	if (l->base == NULL)
		fatalx("the event loop cannot be set up");
	l->edges = (event_base_get_features(l->base) & EDGES) == EDGES;
	l->clock = clock;
	clock_update(clock);
	return l;
}

void
evloop_free(struct evloop **lp)
{
	event_base_free((*lp)->base);
	mem_drop(lp);
}

static void
update(struct evloop *l)
{
	if (l->begun == 0)
		l->begun = clock_update_us(l->clock);
	else
		clock_update(l->clock);
}

/* Whether the next turn is to begin at once. */
static bool
has_more(struct evloop *l)
{
	if (l->more == NULL)
		return false;
	update(l);
	return l->more(l->context);
}

void
evloop_run(struct evloop *l)
{
	int	wait = EVLOOP_ONCE;

	/* Also when nothing is watched: a signal's watch does not count. */
	do {
		l->begun = 0;
		event_base_loop(l->base, wait | EVLOOP_NO_EXIT_ON_EMPTY);
		/* Without ONCE it would go on for as long as anything is
		 * ready, and that may be always. */
		wait = EVLOOP_ONCE | (has_more(l) ? EVLOOP_NONBLOCK : 0);
		if (l->begun != 0 && !l->untimed)
			stats_time(STATS_HISTOGRAM_LOOP_LAG,
			    clock_us() - l->begun);
	} while (!event_base_got_break(l->base));
}

void
evloop_before_wait(struct evloop *l, bool (*more)(void *), void *context)
{
	need(l->more == NULL || more == NULL);
	l->more = more;
	l->context = context;
}

void
evloop_untimed(struct evloop *l)
{
	l->untimed = true;
}

void
evloop_stop(struct evloop *l)
{
	event_base_loopbreak(l->base);
}

static void
dispatch(evutil_socket_t fd, short what, void *context)
{
	struct watch	*w = context;

	(void)fd;
	(void)what;
	update(w->loop);
	w->callback(w->guest[0]);
}

static void
dispatch_guest(evutil_socket_t fd, short what, void *context)
{
	struct watch	*w = context;

	(void)fd;
	(void)what;
	update(w->loop);
	w->callback(w->guest);
}

static struct watch *
watch(struct evloop *l, int fd, short what, void (*callback)(void *),
    void *context)
{
	struct watch	*w = mem_zero(sizeof(*w) + sizeof(w->guest[0]));

	w->loop = l;
	w->callback = callback;
	w->guest[0] = context;
	event_assign(&w->event, l->base, fd, what, dispatch, w);
	return w;
}

struct watch *
evloop_watch(struct evloop *l, int fd, void (*callback)(void *), void *context)
{
	return watch(l, fd, EV_PERSIST, callback, context);
}

void *
evloop_guest(struct evloop *l, int fd, void (*callback)(void *), size_t size)
{
	struct watch	*w = mem_zero(sizeof(*w) + size);

	w->loop = l;
	w->callback = callback;
	event_assign(&w->event, l->base, fd, EV_PERSIST, dispatch_guest, w);
	return w->guest;
}

struct watch *
evloop_host(void *guest)
{
	return (struct watch *)((char *)guest - offsetof(struct watch, guest));
}

void
evloop_leave(void *guest)
{
	struct watch	*w = evloop_host(guest);

	evloop_unwatch(&w);
}

void
evloop_own(struct evloop *l, void *owner)
{
	l->owner = owner;
}

void *
evloop_owner(void *guest)
{
	return evloop_host(guest)->loop->owner;
}

bool
evloop_saw_end(void *guest)
{
	return (evloop_host(guest)->event.ev_res & EV_CLOSED) != 0;
}

void
evloop_move(void *guest, struct evloop *to)
{
	struct watch	*w = evloop_host(guest);

	evloop_want(w, EVLOOP_NOTHING);
	w->loop = to;
	event_base_set(to->base, &w->event);
}

struct watch *
evloop_timer(struct evloop *l, void (*callback)(void *), void *context)
{
	return watch(l, -1, EV_TIMEOUT, callback, context);
}

struct watch *
evloop_signal(struct evloop *l, int signal, void (*callback)(void *),
    void *context)
{
	struct watch	*w = watch(l, signal, EV_SIGNAL | EV_PERSIST, callback,
			    context);

	if (event_add(&w->event, NULL) == -1)
		fatalx("signal %d cannot be watched", signal);
	return w;
}

void
evloop_unwatch(struct watch **wp)
{
	if (*wp == NULL)
		return;
	event_del(&(*wp)->event);
	mem_drop(wp);
}

bool
evloop_has_edges(const struct evloop *l)
{
	return l->edges;
}

static APART void
change(struct watch *w, short events)
{
	evutil_socket_t	 fd = event_get_fd(&w->event);

	event_del(&w->event);
	event_assign(&w->event, w->loop->base, fd, events,
	    event_get_callback(&w->event), w);
	if (events != EV_PERSIST && event_add(&w->event, NULL) == -1)
		fatalx("descriptor %d cannot be watched", (int)fd);
}

void
evloop_want(struct watch *w, enum evloop_want want)
{
	static const short	 events[] = {
		[EVLOOP_NOTHING] = EV_PERSIST,
		[EVLOOP_READ] = EV_PERSIST | EV_READ,
		[EVLOOP_WRITE] = EV_PERSIST | EV_WRITE,
		[EVLOOP_EDGE] = EV_PERSIST | EV_READ | EV_ET | EV_CLOSED,
	};

	/* What it is watched for stands in the event. */
	if (w->event.ev_events != events[want])
		change(w, events[want]);
}

void
evloop_at(struct watch *w, int64_t when)
{
	int64_t		left = when - w->loop->clock->ms;
	struct timeval	tv;

	if (left < 0)
		left = 0;
	tv.tv_sec = (time_t)(left / 1000);
	tv.tv_usec = (suseconds_t)(left % 1000 * 1000);
	event_add(&w->event, &tv);
}

void
evloop_never(struct watch *w)
{
	event_del(&w->event);
}
