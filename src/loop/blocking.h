/*
 * blocking: a loop that waits for the socket of its client in the operation
 * itself, and not for readiness (the papers' MP and MT).
 */
#ifndef LOOP_BLOCKING_H
#define LOOP_BLOCKING_H

#include <stdbool.h>
#include <stddef.h>

#include "loop/clients.h"

struct listener;

/* Limits operations on the sockets that will be accepted from these ones; to be
 * called before main is confined. */
void	blocking_prepare(const struct listener *, size_t);
/* To be called before the loop accepts. */
void	blocking_enable(struct clients *);
/* Performs operations for NET_WAIT_MS.  The hook of the loop's iterations, by
 * blocking_enable(); true: the next one begins at once. */
bool	blocking_run(void *clients);

#endif
