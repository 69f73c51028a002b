/*
 * counter: numbers that any thread reads, and most of which one thread writes.
 *
 * Each counter has one writer, so no addition is lost, and no reader sees a
 * half-written number; counter_add_shared() is for counters with several
 * writers.  Two counters are not consistent with each other: all accesses are
 * relaxed, and those of one writer cost what plain ones cost.
 */
#ifndef LIB_COUNTER_H
#define LIB_COUNTER_H

#include <stddef.h>
#include <stdint.h>

/* For the writer only. */
static inline void
counter_set(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, n, __ATOMIC_RELAXED);
}

/* For the writer only. */
static inline void
counter_add(uint64_t *counter, uint64_t more)
{
	counter_set(counter, *counter + more);
}

/* For any number of writers, which call no other function that writes. */
static inline void
counter_add_shared(uint64_t *counter, uint64_t more)
{
	__atomic_fetch_add(counter, more, __ATOMIC_RELAXED);
}

static inline uint64_t
counter_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* For the writer only: adds to a size_t; more may be negative. */
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
