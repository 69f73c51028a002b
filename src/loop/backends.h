/*
 * backends: the driver of programs (src/backend.h) of an event loop.  It asks
 * the program manager for a program (shared/program_message.h), takes in what
 * the program writes, and wakes the connection that waits for that.
 */
#ifndef LOOP_BACKENDS_H
#define LOOP_BACKENDS_H

#include <stddef.h>

#include "backend.h"
#include "lib/clock.h"
#include "loop/evloop.h"
#include "loop/mailbox.h"

/* Makes the driver of a loop.  It owns manager, the socket to the program
 * manager; -1: there is none yet, and start() fails.  The driver has at most
 * that many backends at once: start() fails with EMFILE beyond that. */
void	backends_open(struct backends *, struct evloop *, const struct clock *,
	    int manager, size_t most);
/*
 * Makes the driver of another thread's loop, with the socket and the limit of
 * the first one, which must be closed later; start is NULL if it is there.  To
 * be called before the threads run.  With the thread's mailbox, other threads
 * may call end(), too; NULL: that thread alone uses the driver.
 */
void	backends_share(struct backends *, const struct backends *first,
	    struct evloop *, const struct clock *, struct mailbox *);
/* Takes over a socket to a new program manager, for all loops that share it.
 * Backends that there are keep their own sockets.  -1 changes nothing. */
void	backends_set_manager(const struct backends *, int manager);
/* How many backends there are in all loops; any thread may ask. */
size_t	backends_count(const struct backends *);
/* All backends have been ended.  Nothing happens if start is NULL. */
void	backends_close(struct backends *);

#endif
