/*
 * lock: the mutex behind a lock.
 */
#include <pthread.h>

#include "lib/lock.h"
#include "lib/mem.h"
#include "lib/need.h"

struct lock {
	pthread_mutex_t	mutex;
};

struct lock *
lock_new(void)
{
	struct lock	*l = mem_get(sizeof(*l));

	need(pthread_mutex_init(&l->mutex, NULL) == 0);
	return l;
}

void
lock_free(struct lock **lp)
{
	if (*lp == NULL)
		return;
	need(pthread_mutex_destroy(&(*lp)->mutex) == 0);
	mem_drop(lp);
}

void
lock_mutex_lock(struct lock *l)
{
	need(pthread_mutex_lock(&l->mutex) == 0);
}

void
lock_mutex_unlock(struct lock *l)
{
	need(pthread_mutex_unlock(&l->mutex) == 0);
}
