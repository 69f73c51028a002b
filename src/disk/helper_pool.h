/*
 * helper_pool: the disk helpers of a main.
 *
 * The pool hands tasks to helpers, one at a time each, asks the monitor for
 * more helpers when all are busy, closes idle ones, and abandons helpers that
 * are stuck.  All functions run in the thread of its loop, and none blocks.
 */
#ifndef DISK_HELPER_POOL_H
#define DISK_HELPER_POOL_H

#include <stdbool.h>

#include "loop/evloop.h"
#include "task.h"

struct helper_pool;
struct main_env;		/* shared/main_env.h */

/* notify: the descriptor to which helpers add directories; -1: none. */
struct helper_pool *helper_pool_new(struct evloop *, const struct clock *,
		    const struct main_env *, int notify);
/* Ends the helpers; all tasks fail. */
void		 helper_pool_free(struct helper_pool **);
/* submit(), promote() and is_busy() of a struct disk; context: the pool. */
enum submitted	 helper_pool_submit(void *, struct task *);
void		 helper_pool_promote(struct task *);
bool		 helper_pool_is_busy(void *);
/* Takes over the stream pipe of a helper that the monitor has started; -1: the
 * monitor could not start one.  context: the pool. */
void		 helper_pool_add(void *, int fd);

/* The conf has other limits now; context: the pool. */
void		 helper_pool_set_limits(void *);
/* Calls line() for each line of the report; context: the pool. */
void		 helper_pool_report(void *, void (*line)(const char *));
/* Sets the gauges of the pool and of its queues; context: the pool. */
void		 helper_pool_measure(void *);

#endif
