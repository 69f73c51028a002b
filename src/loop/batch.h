/*
 * batch: connections whose requests arrived in the same iteration.
 *
 * The machine runs them together as far as it can, before any connection that
 * may take longer: one that waits to send, or a new one.  A batch ends with
 * its iteration; no deadline expires while connections are in it.
 */
#ifndef LOOP_BATCH_H
#define LOOP_BATCH_H

struct clients;

/* Turns batching on, and takes the loop's iteration hook. */
void	batch_enable(struct clients *);

#endif
