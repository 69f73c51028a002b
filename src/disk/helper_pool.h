/*
 * helper_pool: the disk helpers of a main process: hands tasks out, one at a
 * time each; asks the monitor for more when all are busy; lets idle ones go;
 * gives up those that do not come back.
 */
#ifndef DISK_HELPER_POOL_H
#define DISK_HELPER_POOL_H

#include "loop/evloop.h"
#include "task.h"

struct crew;
struct world;			/* shared/main_env.h */

struct crew	*crew_new(struct evloop *, const struct clock *,
		    const struct world *);
void		 crew_free(struct crew **);	/* tasks under way fail */
/* The start function of a struct disk; context: the crew. */
void		 crew_start(void *, struct task *);
/* A helper that the monitor has started; -1: it could not. */
void		 crew_join(struct crew *, int fd);

/* What it has done so far: lines. */
void		 crew_report(void *, void (*line)(const char *));
/* What it is doing now: its gauges, and those of its lanes; context: the
 * crew. */
void		 crew_measure(const void *);

#endif
