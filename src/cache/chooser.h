/*
 * chooser: which policy a cache should have, by what the policies would have
 * missed.
 *
 * Another policy must have fewer misses by a margin.  In the first epochs, one
 * epoch with the margin is enough, and the margin is smaller.  Later, a mean of
 * epochs must have the margin three times in a row, and the last change must be
 * some minutes ago.  After a later change, the chooser compares the real misses
 * with those that the old policy would have had, and goes back if the real
 * misses are more by a margin.
 */
#ifndef CACHE_CHOOSER_H
#define CACHE_CHOOSER_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/policy.h"

#define CHOOSER_DAY_MAX	6	/* changes in 24 hours */

/* Misses of an epoch, in millionths of its requests. */
struct chooser_epoch {
	uint32_t	would[POLICY_NUMBER];
	uint32_t	real;		/* with the policy that the cache has */
};

enum chooser_reason {
	CHOOSER_STAY,
	CHOOSER_FIRST,		/* the first choice */
	CHOOSER_BETTER,		/* another one would miss less */
	CHOOSER_FAILED		/* back, as the last change has failed */
};

/* Times are clock ms. */
struct chooser {
	unsigned	policy;		/* the present one; in policies_all */
	unsigned	epochs;		/* so far, up to a small number */
	uint32_t	mean[POLICY_NUMBER];	/* misses; recent ones count
						 * for more */
	unsigned	best, in_a_row;	/* last epochs in which best has had
					 * the margin */
	int64_t		stay_until;
	int64_t		barred_until[POLICY_NUMBER];
	int64_t		changed_at[CHOOSER_DAY_MAX];	/* a ring */
	unsigned	changes;
	struct {
		unsigned	left;	/* epochs to come; 0: no trial */
		unsigned	old;
		uint64_t	real, would;	/* sums of misses */
	}		trial;
};

void		 chooser_init(struct chooser *, unsigned policy);
/* Begins again with a policy that somebody else has chosen: forgets all misses
 * and the trial, but not when the policy was changed. */
void		 chooser_restart(struct chooser *, unsigned policy);
/* Judges by an epoch that has ended, and sets policy.  At a change, sets *from
 * and *to to the misses of the old and of the new policy that have decided. */
enum chooser_reason chooser_judge(struct chooser *,
		    const struct chooser_epoch *, int64_t now, uint32_t *from,
		    uint32_t *to);

#endif
