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
tally_set(uint64_t *tally, uint64_t n)
{
	__atomic_store_n(tally, n, __ATOMIC_RELAXED);
}

/* Its writer's. */
static inline void
tally_add(uint64_t *tally, uint64_t more)
{
	tally_set(tally, *tally + more);
}

static inline uint64_t
tally_read(const uint64_t *tally)
{
	return __atomic_load_n(tally, __ATOMIC_RELAXED);
}

/* The same of how many there are. */
static inline void
tally_size(size_t *tally, int more)
{
	__atomic_store_n(tally, *tally + (size_t)more, __ATOMIC_RELAXED);
}

static inline size_t
tally_read_size(const size_t *tally)
{
	return __atomic_load_n(tally, __ATOMIC_RELAXED);
}

#endif
