/*
 * accept_token: which of several mains with room for one client each watch the
 * queue of clients.  If all that are free did, each client would wake them all.
 *
 * A few keep the door; who takes a client hands that on to another one that is
 * free.  What is in it comes from mains, and is nothing but numbers to the
 * monitor.
 */
#ifndef SHARED_ACCEPT_TOKEN_H
#define SHARED_ACCEPT_TOKEN_H

#include <stdbool.h>

struct turns;

/* The monitor's. */
struct turns	*turns_new(unsigned mains);
void		 turns_free(struct turns **);
/* That main has gone: somebody else is to keep the door. */
void		 turns_left(struct turns *, unsigned main);

/* A main's.  Readable when it has been handed the door. */
int		 turns_bell(const struct turns *, unsigned main);
void		 turns_hush(const struct turns *, unsigned main);
/* It has no client; true: it is to keep the door. */
bool		 turns_rest(struct turns *, unsigned main);
/* It has one. */
void		 turns_work(struct turns *, unsigned main);

#endif
