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

struct ledger;

/* A helper that an earlier main has left behind, and its queue. */
struct leftover {
	int		 fd;		/* readable when it has died */
	uint64_t	 fs_queue;
};

/* The monitor's: with so many lines. */
struct ledger	*ledger_new(size_t);
void		 ledger_free(struct ledger **);
/* The queue of the helper with this pipe; 0: none, or unknown. */
uint64_t	 ledger_lane(const struct ledger *, uint64_t pipe);
void		 ledger_clear(struct ledger *);

/* Main's: a line for the helper with this pipe (inode); -1: there is none
 * left, which no call below minds. */
int		 ledger_open(struct ledger *, uint64_t pipe);
void		 ledger_close(struct ledger *, int line);
/* What it works for from now on; 0: nothing. */
void		 ledger_write(struct ledger *, int line, uint64_t fs_queue);

#endif
