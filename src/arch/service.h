/*
 * service: what every architecture with an event loop is made of: loop, world
 * of the request machine, clients, logger, signals, talk with the monitor.
 */
#ifndef ARCH_SERVICE_H
#define ARCH_SERVICE_H

#include "arch/arch.h"
#include "arch/asked.h"
#include "arch/clients.h"
#include "arch/evloop.h"
#include "arch/logger.h"
#include "lib/clock.h"
#include "lib/sandbox.h"

struct service {
	const struct world	*world;
	struct clock		 clock;
	struct evloop		*loop;
	struct http		*http;
	struct clients		*clients;
	struct logger		*logger;
	struct askeds		*asked;
	struct watch		*control, *quit, *term, *timer, *tidy, *beat;
	struct watch		*look;		/* for the other mains */
	bool			 looks;		/* ... is due */
	size_t			 room;		/* for so many clients at once;
						 * 0: for all that there may
						 * be */
	int			 pagemap;	/* of proc.h */
	struct sandbox		 sandbox;	/* to be entered at last */
	/* A helper has come (or -1); NULL: none was asked for. */
	void			(*helper)(void *, int fd);
	/* What else there is to report, or NULL. */
	void			(*report)(void *, void (*line)(const char *));
	void			(*measure)(const void *);	/* the same */
	void			*context;
};

void	service_open(struct service *, const struct world *);
/* Serves, with errands going there, until a signal or the monitor's end. */
void	service_run(struct service *, const struct disk *);
void	service_close(struct service *);

#endif
