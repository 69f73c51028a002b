/*
 * counter: numbers that one thread adds to, and others may read meanwhile.
 *
 * There is one writer to each, so nothing is lost; no reader sees half of a
 * number.  More is not promised: two of them may be read as they never stood
 * beside each other.  It costs what a plain addition costs.
 */
#ifndef LIB_COUNTER_H
#define LIB_COUNTER_H

#include <stddef.h>
#include <stdint.h>

/* Its writer's. */
static inline void
counter_set(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, n, __ATOMIC_RELAXED);
}

/* Its writer's. */
static inline void
counter_add(uint64_t *counter, uint64_t more)
{
	counter_set(counter, *counter + more);
}

static inline uint64_t
counter_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* The same of how many there are. */
static inline void
counter_add_size(size_t *counter, int more)
{
	__atomic_store_n(counter, *counter + (size_t)more, __ATOMIC_RELAXED);
}

static inline size_t
counter_read_size(const size_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

#endif
