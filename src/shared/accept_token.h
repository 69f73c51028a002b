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

struct accept_token;

/* The monitor's. */
struct accept_token	*accept_token_new(unsigned mains);
void		 accept_token_free(struct accept_token **);
/* That main has gone: somebody else is to keep the door. */
void		 accept_token_main_died(struct accept_token *, unsigned main);

/* A main's.  Readable when it has been handed the door. */
int		 accept_token_fd(const struct accept_token *, unsigned main);
void accept_token_reset_fd(const struct accept_token *, unsigned main);
/* It has no client; true: it is to keep the door. */
bool		 accept_token_idle(struct accept_token *, unsigned main);
/* It has one. */
void		 accept_token_busy(struct accept_token *, unsigned main);

#endif
