/*
 * helper_slots: for which queue each helper works, in memory that outlives main.
 *
 * Main writes, the monitor reads when main has died: helpers that cannot be
 * killed belong to the share of their file system whoever is main.  What is
 * in it comes from main, and is nothing but numbers to the monitor.
 */
#ifndef SHARED_HELPER_SLOTS_H
#define SHARED_HELPER_SLOTS_H

#include <stddef.h>
#include <stdint.h>

struct helper_slots;

/* A helper that an earlier main has left behind, and its queue. */
struct orphan {
	int		 fd;		/* readable when it has died */
	uint64_t	 fs_queue;
};

/* The monitor's: with so many lines. */
struct helper_slots	*helper_slots_new(size_t);
void		 helper_slots_free(struct helper_slots **);
/* The queue of the helper with this pipe; 0: none, or unknown. */
uint64_t	 helper_slots_find(const struct helper_slots *, uint64_t pipe);
void		 helper_slots_clear(struct helper_slots *);

/* Main's: a line for the helper with this pipe (inode); -1: there is none
 * left, which no call below minds. */
int		 helper_slots_take(struct helper_slots *, uint64_t pipe);
void		 helper_slots_release(struct helper_slots *, int slot);
/* What it works for from now on; 0: nothing. */
void helper_slots_set(struct helper_slots *, int slot, uint64_t fs_queue);

#endif
