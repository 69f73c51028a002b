/*
 * policy: the order in which the entries of a cache go.
 *
 * A policy has queues of entries and looks at their uses when it is asked for a
 * victim; at no other time is an entry moved.  One search gives a limited
 * number of second chances, which bounds its cost.
 */
#ifndef CACHE_POLICY_H
#define CACHE_POLICY_H

#include "cache/cache.h"

/* Second chances given in one search for a victim. */
#define POLICY_CHANCES	32

/* Queues.  Queues with lower numbers are for ranks.  So the queue of an entry
 * shows which kind of policy has put it there.  Of KEPT no policy knows. */
#define POLICY_MAIN		31
#define POLICY_NEWCOMERS	30
#define POLICY_KEPT		7	/* see keep.h */

struct cache_policy {
	const char		*name;
	bool			 has_newcomers;	/* queues all of them apart */
	/* Queues an entry: a new one; a victim that is to stay. */
	void			(*add)(struct cache *, struct cache_entry *);
	void			(*keep)(struct cache *, struct cache_entry *);
	/* See cache_victim(). */
	struct cache_entry	*(*victim)(struct cache *);
	/* An entry is about to leave its queue.  NULL: nothing is to do. */
	void			(*leave)(struct cache *, struct cache_entry *,
				    size_t bytes);
	/* For a hand that passes entries which are in no queue: whether to
	 * spare an entry with so many uses; lowers that number. */
	bool			(*spare)(uint16_t *uses);
};

/* Nearly least recently used: second chance. */
extern const struct cache_policy policy_lru;
/* SIEVE (Zhang et al., NSDI 2024). */
extern const struct cache_policy policy_sieve;
/* S3-FIFO (Yang et al., SOSP 2023). */
extern const struct cache_policy policy_s3fifo;
/* Least frequently used, with ageing (LFU-DA; Arlitt et al., 1999). */
extern const struct cache_policy policy_lfu;
/* Greedy dual, by size and frequency (Cherkasova, 1998), with the queues of
 * CAMP (Ghandeharizadeh et al., Middleware 2014). */
extern const struct cache_policy policy_gdsf;

/* All of them, in the order of enum conf_policy. */
#define POLICY_NUMBER	5
extern const struct cache_policy *const policies_all[POLICY_NUMBER];

/* Changes the policy of a cache.  Entries stay in their queues; each search for
 * a victim moves some of them to the queues of the new policy. */
void		 policy_change(struct cache *, const struct cache_policy *);
/* The facts about an entry, whether its cache describes entries or not. */
struct cache_item policy_describe(const struct cache *,
		    const struct cache_entry *, size_t bytes);
/* Puts an entry behind all others of a queue. */
void		 policy_enqueue(struct cache *, struct cache_entry *,
		    unsigned queue);
/* Moves an entry from its queue behind all others of another queue. */
void		 policy_move(struct cache *, struct cache_entry *,
		    unsigned queue);
/* Whether an entry is queued as a guest (guests.h). */
bool		 policy_has_guest(const struct cache *,
		    const struct cache_entry *);
/* Counts an entry out that is about to leave its queue, if it is a guest. */
void		 policy_drop_guest(struct cache *, const struct cache_entry *,
		    size_t bytes);
/* Moves some entries that another policy has queued into POLICY_MAIN.  For the
 * search for a victim, by a policy with or without POLICY_NEWCOMERS. */
void		 policy_adopt(struct cache *, bool newcomers);
/* An entry of a queue that is not held, in the order of the queue; NULL:
 * none. */
struct cache_entry *policy_find_unheld(const struct cache *, unsigned queue);
/* Whether to spare an entry, because it was used.  The first function sets the
 * uses to 0, the other one halves them. */
bool		 policy_spare_once(uint16_t *uses);
bool		 policy_spare_half(uint16_t *uses);

#endif
