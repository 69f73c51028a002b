/*
 * lock: a mutex, or NULL where only one thread does the work.
 *
 * The holder of a lock may wait for another lock only, never for the disk or a
 * client, and must not acquire the same lock again.
 */
#ifndef LIB_LOCK_H
#define LIB_LOCK_H

#include <stddef.h>

#include "lib/compiler.h"

struct lock;

struct lock	*lock_new(void);
void		 lock_free(struct lock **);

/* Called by the two inline functions below. */
COLD void	 lock_mutex_lock(struct lock *);
COLD void	 lock_mutex_unlock(struct lock *);

/*
 * Marks the locked twin of a function of the hot path.  The function itself
 * serves callers without a lock: as it makes no calls for the lock, it need not
 * save registers around them.
 */
#define LOCKED	NOINLINE

static inline void
lock_acquire(struct lock *l)
{
	if (l != NULL)
		lock_mutex_lock(l);
}

static inline void
lock_release(struct lock *l)
{
	if (l != NULL)
		lock_mutex_unlock(l);
}

#endif
