/*
 * advice_rows: the policies and the advice that have gauges, for stats.h.
 */
#ifndef STATS_ADVICE_ROWS_H
#define STATS_ADVICE_ROWS_H

/* Policies of caches, in the order of enum conf_policy. */
#define STATS_POLICIES(X)						\
	X(LRU, "lru") X(SIEVE, "sieve") X(S3FIFO, "s3fifo")		\
	X(LFU, "lfu") X(GDSF, "gdsf")
/* Caches that a miniature has (cache/miniature.h): id, name, policy, memory as
 * a multiple of the present. */
#define STATS_ADVICE(X)							\
	X(LRU, "lru", "lru", "1") X(SIEVE, "sieve", "sieve", "1")	\
	X(S3FIFO, "s3fifo", "s3fifo", "1") X(LFU, "lfu", "lfu", "1")	\
	X(GDSF, "gdsf", "gdsf", "1") X(HALF, "half", "present", "0.5")	\
	X(TWICE, "twice", "present", "2")

enum stats_advice {
#define X(id, name, policy, size) STATS_ADVICE_##id,
	STATS_ADVICE(X)
#undef X
	STATS_ADVICE_COUNT
};

#endif
