/*
 * batch: connections whose requests arrived in the same iteration.
 *
 * A system call displaces much of our code and data from the processor's
 * caches, and our work displaces the system's.  So calls for connections that
 * become readable in one iteration are made one behind the other: all READs,
 * then all sessions run, then all WRITEs.  An operation that is not to be held
 * back is performed where it comes up.
 *
 * A batch runs before any connection that may take longer: one that waits to
 * send, or a new one.  It ends with its iteration; no deadline expires while
 * connections are in it.
 */
#ifndef LOOP_BATCH_H
#define LOOP_BATCH_H

struct clients;

/* Turns batching on, and takes the loop's iteration hook. */
void	batch_enable(struct clients *);

#endif
