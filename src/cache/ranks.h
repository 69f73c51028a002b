/*
 * ranks: queues of entries by the weight that a use of them has, each in the
 * order in which its entries are to go.
 *
 * The rank of an entry is that of the last victim when the entry was queued,
 * and its weight more.  The entry with the least rank is the next victim, so
 * ranks only grow, and an entry that nobody uses grows old.  Weights are powers
 * of two, one for each queue: so within a queue ranks grow from front to back,
 * and the least is that of one of the front entries.
 */
#ifndef CACHE_RANKS_H
#define CACHE_RANKS_H

#include "cache/cache.h"

/* The most uses that an entry is remembered to have had. */
#define RANKS_TIMES_MAX	63

#define RANKS_CLASSES	30	/* queues; other policies have the others */
/* Each policy has classes of its own, so that an entry shows by its queue which
 * one has put it there. */
#define RANKS_LFU	0	/* to POLICY_KEPT - 1 */
#define RANKS_GDSF	8	/* to RANKS_CLASSES - 1 */

/* Puts an entry, which is in no queue, into one for weight 2^class. */
void	ranks_add(struct cache *, struct cache_entry *, unsigned class);
/* As the functions keep and victim of a policy.  class_of() tells the class of
 * an entry by its number of uses; its arrival counts as one. */
void	ranks_keep(struct cache *, struct cache_entry *,
	    unsigned (*class_of)(const struct cache *,
		const struct cache_entry *));
struct cache_entry *ranks_victim(struct cache *,
	    unsigned (*class_of)(const struct cache *,
		const struct cache_entry *));

#endif
