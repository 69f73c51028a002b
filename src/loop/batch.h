/*
 * batch: clients whose requests have come in the same turn of the loop.
 *
 * They are run together, as far as the machine does that, before others who may
 * take longer: who waits to send, or comes in.  A batch never outlasts its
 * turn, nor do deadlines run out meanwhile.
 */
#ifndef LOOP_BATCH_H
#define LOOP_BATCH_H

struct client;
struct clients;

/* From now on; the end of the loop's turns is theirs. */
void	batch_enable(struct clients *);
/* It has got what it waited for. */
void	batch_wake(struct client *);
/* Answers all. */
void	batch_run(struct clients *);

#endif
