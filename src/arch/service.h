/*
 * service: the skeleton that all architectures share: event loop, request
 * machine, connections, access log, signals, channel to the monitor.
 */
#ifndef ARCH_SERVICE_H
#define ARCH_SERVICE_H

#include "admin/hot_names.h"
#include "admin/requests.h"
#include "admin/warm.h"
#include "arch/arch.h"
#include "http/caches.h"
#include "lib/clock.h"
#include "lib/sandbox.h"
#include "lib/wakeup.h"
#include "loop/access_log.h"
#include "loop/backends.h"
#include "loop/clients.h"
#include "loop/evloop.h"
#include "loop/threads.h"
#include "shared/main_env.h"

/* An architecture whose clients are served by other threads of main; the
 * service makes, starts, drains and ends these. */
struct service_thread_ops {
	size_t	size;		/* of a thread's record: loop/threads.h */
	void	(*on_command)(struct loop_thread *, enum threads_command);
	/* Both in main's first thread.  Sets the threads up; the setup is that
	 * of main's own struct http_loop; each thread has its own clock, disk
	 * and backends. */
	void	(*open)(void *context, const struct http_setup *);
	void	(*ended)(void *context);	/* all threads; or NULL */
	/* NULL: all threads run all the time; else the first one does, and
	 * starts others (loop/threads.h). */
	void	(*on_spawned)(struct loop_thread *);
	void	(*on_ended)(struct loop_thread *);
};

struct service {
	const struct main_env	*env;
	struct clock		 clock;
	struct evloop		*loop;
	struct http_loop	*http;
	struct clients		*clients;
	struct access_log	*access_log;
	struct backends		 backends;	/* start NULL: no programs */
	struct requests		*requests;	/* of administrators */
	struct hot_names	*hot_names;	/* for the main after this */
	struct warm		*warm;		/* by names of the one before */
	struct watch		*channel;	/* to the monitor */
	struct watch		*changes;	/* in directories; or NULL */
	struct watch		*changes_pause;	/* timer, or NULL */
	int64_t			 changes_at;	/* clock ms: last read */
	struct watch		*quit, *term;	/* signals */
	struct watch		*timer;		/* ends a drain */
	struct watch		*tidy;		/* tidies the caches at once */
	struct watch		*keepalive;	/* for the monitor's watchdog */
	struct watch		*gauges_timer;	/* publishes gauges */
	bool			 gauges_due;	/* gauges_timer is armed */
	unsigned		 shares;	/* the limits are divided among
						 * so many mains */
	struct watch		*shares_timer;	/* on the way to a share */
	int			 balances_left;	/* with a new main */
	bool			 drains;
	int			 pagemap;	/* of pagemap.h */
	int			 notify;	/* of notify.h; -1: none */
	struct sandbox		 sandbox;	/* entered before serving */
	/* The monitor has started a helper, with that pipe, or could not (-1).
	 * NULL: the architecture has no helpers. */
	void			(*on_helper)(void *, int fd);
	/* Main has another part of the limits; or NULL. */
	void			(*on_limits)(void *);
	/* Writes the architecture's lines of the report; or NULL. */
	void			(*report)(void *, void (*line)(const char *));
	/* Adds to stats_gauges, in any thread; or NULL. */
	void			(*measure)(void *);
	const struct service_thread_ops *ops;	/* NULL: no threads */
	void			*context;	/* of the functions above */
	struct threads		*threads;	/* by ops; NULL: none */
	struct caches		*caches;	/* shared with the threads */
	struct wakeup		 wakeup;	/* set by a thread: tidy */
	struct watch		*wakeup_watch;
	const char		*ended_by;	/* NULL: all clients are gone */
	bool			 empty;		/* in a drain: main's own
						 * clients are gone */
	bool			 threads_gone;	/* the threads' clients too */
};

/* Sets up all except the machine and the connections. */
void	service_open(struct service *, const struct main_env *);
/* How many connections there may be at once. */
size_t	service_connections(const struct service *);
/* Serves, with tasks going to that disk, until a signal comes or the monitor
 * ends. */
void	service_run(struct service *, const struct disk *);
void	service_close(struct service *);

#endif
