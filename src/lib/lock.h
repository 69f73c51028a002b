/*
 * lock: a mutex that is not there where one thread alone does the work: NULL,
 * and then it costs a look at that.
 *
 * Who has it must not wait for anything but another lock, and does not take it
 * again.
 */
#ifndef LIB_LOCK_H
#define LIB_LOCK_H

#include <stddef.h>

#include "lib/compiler.h"

struct lock;

struct lock	*lock_new(void);
void		 lock_free(struct lock **);

/* For the two below. */
COLD void	 lock_mutex_lock(struct lock *);
COLD void	 lock_mutex_unlock(struct lock *);

/*
 * What a verb does that every request comes to stands twice: here under the
 * lock, aside, and in the verb itself for who has none, so that this one need
 * not save registers for calls that it does not make.
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
