/*
 * evloop: a thin layer over libevent.
 *
 * A descriptor has one event, which is changed only when a connection waits
 * for something else than before; a cached request never changes it.
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

#define EDGE_FEATURES	(EV_FEATURE_ET | EV_FEATURE_EARLY_CLOSE)

struct evloop {
	struct event_base	*base;
	struct clock		*clock;
	int64_t			 began_at;	/* first callback of this
						 * iteration, us; 0: none yet */
	bool			 untimed;	/* evloop_stop_timing() */
	bool			 stopped;	/* evloop_stop() */
	bool			 has_edges;
	bool			 (*on_iteration)(void *);	/* or NULL */
	void			*iteration_ctx;	/* of on_iteration() */
	void			*ctx;		/* evloop_set_ctx() */
};

struct watch {
	struct event		 event;
	struct evloop		*loop;
	void			(*callback)(void *);
	void			*embedded[];	/* record, or the context */
};

static void
log_libevent(int severity, const char *message)
{
	if (severity == EVENT_LOG_ERR)
		log_errorx("libevent: %s", message);
	else if (severity == EVENT_LOG_WARN)
		log_warnx("libevent: %s", message);
}

/*
 * libevent's memory.  libevent never frees what it has allocated for a
 * descriptor; on the heap, each such piece would keep a page of memory of ended
 * connections in use.
 */
static struct slab	event_slab;
static struct lock	*event_slab_lock;	/* NULL: one thread */

struct sized {
	size_t	 size;		/* this struct included */
	char	 bytes[];
};

static void *
alloc_sized(size_t n)
{
	struct sized	*p;

	lock_acquire(event_slab_lock);
	p = slab_alloc(&event_slab, sizeof(*p) + n);
	lock_release(event_slab_lock);
	p->size = sizeof(*p) + n;
	return p->bytes;
}

static void
free_sized(void *bytes)
{
	struct sized	*p;

	if (bytes == NULL)
		return;
	p = (struct sized *)(void *)((char *)bytes - sizeof(*p));
	lock_acquire(event_slab_lock);
	slab_free(&event_slab, p, p->size);
	lock_release(event_slab_lock);
}

static void *
realloc_sized(void *bytes, size_t n)
{
	const struct sized	*old;
	void			*p = alloc_sized(n);

	if (bytes == NULL)
		return p;
	old = (const struct sized *)(void *)((char *)bytes - sizeof(*old));
	memcpy(p, bytes, MIN(n, old->size - sizeof(*old)));
	free_sized(bytes);
	return p;
}

void
evloop_pool_memory(bool threads)
{
	slab_init(&event_slab);
	if (threads)
		event_slab_lock = lock_new();
	event_set_mem_functions(alloc_sized, realloc_sized, free_sized);
}

struct evloop *
evloop_new(struct clock *clock)
{
	struct evloop		*l = mem_zero(sizeof(*l));
	struct event_config	*config = event_config_new();

	event_set_log_callback(log_libevent);
	need(config != NULL);
	event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
	l->base = event_base_new_with_config(config);
	event_config_free(config);
	if (l->base == NULL)
		fatalx("the event loop cannot be set up");
	l->has_edges = (event_base_get_features(l->base) & EDGE_FEATURES) ==
	    EDGE_FEATURES;
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
update_clock(struct evloop *l)
{
	if (l->began_at == 0)
		l->began_at = clock_update_us(l->clock);
	else
		clock_update(l->clock);
}

/* Runs the hook; true: the next iteration begins at once. */
static bool
end_iteration(struct evloop *l)
{
	if (l->on_iteration == NULL)
		return false;
	/* A callback has read the clock just now. */
	if (l->began_at == 0)
		update_clock(l);
	else
		clock_count(l->clock);
	return l->on_iteration(l->iteration_ctx);
}

void
evloop_run(struct evloop *l)
{
	int	wait = EVLOOP_ONCE;

	/* NO_EXIT_ON_EMPTY: libevent does not count a signal's watch. */
	while (!l->stopped) {
		l->began_at = 0;
		event_base_loop(l->base, wait | EVLOOP_NO_EXIT_ON_EMPTY);
		/* Without ONCE event_base_loop() goes on as long as any
		 * descriptor is ready, which may be always. */
		wait = EVLOOP_ONCE | (end_iteration(l) ? EVLOOP_NONBLOCK : 0);
		if (l->began_at != 0 && !l->untimed)
			stats_time(STATS_HISTOGRAM_LOOP_LAG,
			    clock_us() - l->began_at);
	}
	l->stopped = false;		/* for another run */
}

void
evloop_on_iteration(struct evloop *l, bool (*on_iteration)(void *), void *ctx)
{
	need(l->on_iteration == NULL || on_iteration == NULL);
	l->on_iteration = on_iteration;
	l->iteration_ctx = ctx;
}

void
evloop_stop_timing(struct evloop *l)
{
	l->untimed = true;
}

void
evloop_stop(struct evloop *l)
{
	l->stopped = true;
	event_base_loopbreak(l->base);
}

static void
dispatch_watch(evutil_socket_t fd, short what, void *context)
{
	struct watch	*w = context;

	(void)fd;
	(void)what;
	update_clock(w->loop);
	w->callback(w->embedded[0]);
}

static void
dispatch_embedded(evutil_socket_t fd, short what, void *context)
{
	struct watch	*w = context;

	(void)fd;
	(void)what;
	update_clock(w->loop);
	w->callback(w->embedded);
}

static struct watch *
new_watch(struct evloop *l, int fd, short what, void (*callback)(void *),
    void *context)
{
	struct watch	*w = mem_zero(sizeof(*w) + sizeof(w->embedded[0]));

	w->loop = l;
	w->callback = callback;
	w->embedded[0] = context;
	event_assign(&w->event, l->base, fd, what, dispatch_watch, w);
	return w;
}

struct watch *
evloop_watch(struct evloop *l, int fd, void (*callback)(void *), void *context)
{
	return new_watch(l, fd, EV_PERSIST, callback, context);
}

void *
evloop_embed(struct evloop *l, int fd, void (*callback)(void *), size_t size)
{
	struct watch	*w = mem_zero(sizeof(*w) + size);

	w->loop = l;
	w->callback = callback;
	event_assign(&w->event, l->base, fd, EV_PERSIST, dispatch_embedded, w);
	return w->embedded;
}

struct watch *
evloop_watch_of(void *embedded)
{
	return (struct watch *)((char *)embedded -
	    offsetof(struct watch, embedded));
}

void
evloop_unembed(void *embedded)
{
	struct watch	*w = evloop_watch_of(embedded);

	evloop_unwatch(&w);
}

void
evloop_set_ctx(struct evloop *l, void *ctx)
{
	l->ctx = ctx;
}

void *
evloop_ctx(void *embedded)
{
	return evloop_watch_of(embedded)->loop->ctx;
}

bool
evloop_saw_eof(void *embedded)
{
	return (evloop_watch_of(embedded)->event.ev_res & EV_CLOSED) != 0;
}

void
evloop_move(void *embedded, struct evloop *to)
{
	struct watch	*w = evloop_watch_of(embedded);

	evloop_set(w, EVLOOP_NONE);
	w->loop = to;
	event_base_set(to->base, &w->event);
}

struct watch *
evloop_timer(struct evloop *l, void (*callback)(void *), void *context)
{
	return new_watch(l, -1, EV_TIMEOUT, callback, context);
}

struct watch *
evloop_signal(struct evloop *l, int signal, void (*callback)(void *),
    void *context)
{
	struct watch	*w = new_watch(l, signal, EV_SIGNAL | EV_PERSIST,
			    callback, context);

	if (event_add(&w->event, NULL) == -1)
		fatalx("signal %d cannot be watched", signal);
	return w;
}

void
evloop_redirect(struct watch *w, void (*callback)(void *), void *context)
{
	w->callback = callback;
	w->embedded[0] = context;
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
	return l->has_edges;
}

static NOINLINE void
change_events(struct watch *w, short events)
{
	evutil_socket_t	 fd = event_get_fd(&w->event);

	event_del(&w->event);
	event_assign(&w->event, w->loop->base, fd, events,
	    event_get_callback(&w->event), w);
	if (events != EV_PERSIST && event_add(&w->event, NULL) == -1)
		fatalx("descriptor %d cannot be watched", (int)fd);
}

void
evloop_set(struct watch *w, enum evloop_event event)
{
	static const short	 events[] = {
		[EVLOOP_NONE] = EV_PERSIST,
		[EVLOOP_READ] = EV_PERSIST | EV_READ,
		[EVLOOP_WRITE] = EV_PERSIST | EV_WRITE,
		[EVLOOP_EDGE] = EV_PERSIST | EV_READ | EV_ET | EV_CLOSED,
	};

	/* ev_events is what the watch is set to now. */
	if (w->event.ev_events != events[event])
		change_events(w, events[event]);
}

void
evloop_arm(struct watch *w, int64_t when)
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
evloop_cancel(struct watch *w)
{
	event_del(&w->event);
}
