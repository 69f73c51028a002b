/*
 * backends: the driver of programs (src/backend.h) of an event loop.  It asks
 * the program manager for a program (shared/program_message.h), takes in what
 * the program writes, and wakes the connection that waits for that.
 */
#ifndef LOOP_BACKENDS_H
#define LOOP_BACKENDS_H

#include <stdbool.h>
#include <stddef.h>

#include "backend.h"
#include "lib/clock.h"
#include "loop/evloop.h"
#include "loop/mailbox.h"

/* Makes the driver of a loop.  It owns the n sockets to the program managers,
 * of which some may be -1, and has at most that many backends at once: start()
 * fails with EMFILE beyond that.  All backends together hold at most held bytes
 * of output, beyond HELD_MIN (held.h) of each. */
void	backends_open(struct backends *, struct evloop *, const struct clock *,
	    const int *managers, size_t n, size_t most, size_t held);
/*
 * Makes the driver of another thread's loop, with the sockets and the limit of
 * the first one, which must be closed later; start is NULL if it is there.  To
 * be called before the threads run.  With the thread's mailbox, other threads
 * may call end(), too; NULL: that thread alone uses the driver.
 */
void	backends_share(struct backends *, const struct backends *first,
	    struct evloop *, const struct clock *, struct mailbox *);
/* How many backends there are in all loops; any thread may ask. */
size_t	backends_count(const struct backends *);
/* The same: bytes of held output that count. */
size_t	backends_held(const struct backends *);
/* The loop is about to stop for a time: gives kept leases back; false: a run of
 * filters is under way and needs the loop. */
bool	backends_rest(const struct backends *);
/* Ends all runs of filters; their tasks are completed. */
void	backends_end_filters(struct backends *);
/* All backends have been ended.  Nothing happens if start is NULL. */
void	backends_close(struct backends *);

#endif
