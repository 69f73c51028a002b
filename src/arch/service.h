/*
 * service: what every architecture with an event loop is made of: loop, world
 * of the request machine, clients, logger, signals, talk with the monitor.
 */
#ifndef ARCH_SERVICE_H
#define ARCH_SERVICE_H

#include "admin/requests.h"
#include "arch/arch.h"
#include "http/caches.h"
#include "lib/clock.h"
#include "lib/sandbox.h"
#include "lib/wakeup.h"
#include "loop/access_log.h"
#include "loop/clients.h"
#include "loop/evloop.h"
#include "shared/main_env.h"

/* Other threads of main, which have the clients; how they are made and led. */
struct service_thread_ops {
	/* As that of main's own http, but for clock and disk. */
	void	(*open)(void *context, const struct http_setup *);
	void	(*start)(void *context);	/* of sandbox.h */
	void	(*serve)(void *context);	/* from here on */
	/* service_threads_closed() and service_threads_gone() are due. */
	void	(*drain)(void *context);
	bool	(*end)(void *context);		/* of loop/threads.h */
};

struct service {
	const struct main_env	*env;
	struct clock		 clock;
	struct evloop		*loop;
	struct http_loop		*http;
	struct clients		*clients;
	struct access_log		*access_log;
	struct requests		*requests;
	struct watch *channel, *quit, *term, *timer, *tidy, *keepalive;
	struct watch		*gauges_timer;		/* for the other mains */
	bool			 gauges_due;		/* ... is due */
	size_t			 client_limit;		/* for so many clients at once;
						 * 0: for all that there may
						 * be */
	int			 pagemap;	/* of pagemap.h */
	struct sandbox		 sandbox;	/* to be entered at last */
	/* A helper has come (or -1); NULL: none was asked for. */
	void			(*on_helper)(void *, int fd);
	/* What else there is to report, or NULL. */
	void			(*report)(void *, void (*line)(const char *));
	void			(*measure)(const void *);	/* the same */
	const struct service_thread_ops *threads;	/* NULL: none */
	void			*context;		/* of all these */
	struct caches		*caches;		/* shared with those */
	struct wakeup		 wakeup;		/* they ring: it is to be
						 * tidied */
	struct watch		*wakeup_watch;
	bool			 empty, threads_gone;	/* in a drain */
};

void	service_open(struct service *, const struct main_env *);
/* So many may there be at once. */
size_t	service_connections(const struct service *);
/* Serves, with tasks going there, until a signal or the monitor's end. */
void	service_run(struct service *, const struct disk *);
void	service_close(struct service *);
/* None of them takes new clients, in a drain; and all of theirs have gone. */
void	service_threads_closed(struct service *);
void	service_threads_gone(struct service *);

#endif
