/*
 * helper_pool: the disk helpers of a main process: hands tasks out, one at a
 * time each; asks the monitor for more when all are busy; lets idle ones go;
 * gives up those that do not come back.
 */
#ifndef DISK_HELPER_POOL_H
#define DISK_HELPER_POOL_H

#include "loop/evloop.h"
#include "task.h"

struct helper_pool;
struct main_env;			/* shared/main_env.h */

struct helper_pool	*helper_pool_new(struct evloop *, const struct clock *,
		    const struct main_env *);
void		 helper_pool_free(struct helper_pool **);	/* tasks under way fail */
/* The start function of a struct disk; context: the pool. */
void		 helper_pool_submit(void *, struct task *);
/* A helper that the monitor has started; -1: it could not. */
void		 helper_pool_add(struct helper_pool *, int fd);

/* What it has done so far: lines. */
void		 helper_pool_report(void *, void (*line)(const char *));
/* What it is doing now: its gauges, and those of its queues; context: the
 * pool. */
void		 helper_pool_measure(const void *);

#endif
