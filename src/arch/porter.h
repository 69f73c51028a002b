/*
 * porter: a thread that does the jobs of errands, one after the other, while
 * those who have sent it go on.
 *
 * What waits is bounded, but for pieces of responses that have begun.  A job
 * that does not come back holds the porter, and whoever waits behind it gives
 * up when its time is over: nobody can kill a thread.
 */
#ifndef ARCH_PORTER_H
#define ARCH_PORTER_H

#include <stdbool.h>
#include <stddef.h>

#include "arch/queue.h"
#include "wait.h"

struct porter;

/* So many errands may wait. */
struct porter	*porter_new(size_t most);
/* The thread has ended: what still waits fails. */
void		 porter_free(struct porter **);
/* What the thread does until it is told to end; context: the porter. */
void		 porter_run(void *);
/* Any thread: when the job under way is done. */
void		 porter_end(struct porter *);

/* The errand comes back through that queue, the sender's own; NULL: nobody
 * waits for it, and done() may be called by any thread. */
void		 porter_send(struct porter *, struct errand *, struct queue *);

/* For gauges: how many wait, and whether it is over one.  Any thread. */
size_t		 porter_waiting(const struct porter *);
bool		 porter_busy(const struct porter *);

#endif
