/*
 * helper_slots: for which file system each helper works, in memory that
 * outlives main.
 *
 * Main writes; the monitor reads when main has died.  A helper that cannot be
 * killed counts against the limit of its file system in the next main too.  The
 * content comes from main, so to the monitor it is plain numbers.
 */
#ifndef SHARED_HELPER_SLOTS_H
#define SHARED_HELPER_SLOTS_H

#include <stddef.h>
#include <stdint.h>

struct helper_slots;

/* A helper whose main has died. */
struct orphan {
	int		 fd;		/* readable when the helper has died */
	uint64_t	 fs_queue;	/* the queue that it works for */
};

/* In the monitor: allocates so many slots, before main is forked. */
struct helper_slots *helper_slots_new(size_t);
void		 helper_slots_free(struct helper_slots **);
/* Returns the queue of the helper with this pipe (inode); 0: none. */
uint64_t	 helper_slots_find(const struct helper_slots *,
		    uint64_t pipe);
void		 helper_slots_clear(struct helper_slots *);

/* In main: takes a slot for the helper with this pipe (inode).  Returns its
 * number, or -1 if all are taken; the functions below accept -1. */
int		 helper_slots_take(struct helper_slots *, uint64_t pipe);
void		 helper_slots_release(struct helper_slots *, int slot);
/* Sets the queue that a helper works for; 0: none. */
void		 helper_slots_set(struct helper_slots *, int slot,
		    uint64_t fs_queue);

#endif
