/*
 * filters: the driver of filters (src/filter.h) of an event loop: has the
 * program manager run one after the other, each over the result of the one
 * before.
 */
#ifndef LOOP_FILTERS_H
#define LOOP_FILTERS_H

#include "backend.h"
#include "filter.h"
#include "lib/clock.h"
#include "loop/evloop.h"

struct filters;

struct filters	*filters_new(const struct backends *, struct evloop *,
		    const struct clock *);
/* Begins a run; it may end at once. */
enum submitted	 filters_run(struct filters *, struct filter_run *);
/* Whether a run is under way. */
bool		 filters_run_now(const struct filters *);
/* Ends all runs, with ECANCELED. */
void		 filters_end(struct filters *);
/* To be called when there are no runs; NULL: nothing happens. */
void		 filters_free(struct filters **);

#endif
