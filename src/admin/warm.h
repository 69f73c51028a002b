/*
 * warm: brings the files of a list of hot names (shared/hot_list.h), and those
 * of hints (http/hints), into the caches of a main, without delaying clients.
 *
 * A few names are loaded at a time, between two iterations of the loop, and
 * only while iterations are short.  If main itself waits for the disk and has
 * clients, it pauses after each name three times as long as the name took.
 * Hints come first, as a client is about to ask for them.  Loading of a list
 * ends when a cache is full.
 */
#ifndef ADMIN_WARM_H
#define ADMIN_WARM_H

#include <stdbool.h>

#include "conf/conf.h"
#include "http/machine.h"
#include "lib/clock.h"
#include "loop/clients.h"
#include "loop/evloop.h"

struct warm;

struct warm_setup {
	struct evloop		*loop;
	const struct clock	*clock;
	struct http_loop	*http;
	struct clients		*clients;
	const struct conf	*conf;
	unsigned		 at_once;	/* most names under way */
	bool			 in_place;	/* the loop waits for the disk,
						 * and so do its clients */
};

/* To be called before main is confined. */
struct warm	*warm_new(const struct warm_setup *);
/* To be called after the clients have been freed. */
void		 warm_free(struct warm **);
/* Loads the names of one more list, a file that it owns; -1 is ignored. */
void		 warm_add(struct warm *, int file);
/* There may be hints. */
void		 warm_take_hints(struct warm *);
/* Loads no more. */
void		 warm_stop(struct warm *);

#endif
