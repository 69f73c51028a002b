/*
 * accept_token: which of several mains, each with room for one client, watch
 * the accept queue.  If all idle mains watched it, each client would wake them
 * all.
 *
 * A few mains hold a token and watch.  A main that accepts a client passes its
 * token to an idle main (leader/followers).  The memory is shared with mains,
 * so to the monitor its content is plain numbers.
 */
#ifndef SHARED_ACCEPT_TOKEN_H
#define SHARED_ACCEPT_TOKEN_H

#include <stdbool.h>

struct accept_token;

/* In the monitor: allocates for so many mains, before they are forked. */
struct accept_token *accept_token_new(unsigned mains);
void		 accept_token_free(struct accept_token **);
/* In the monitor: a main has died; passes its token on.  NULL does nothing. */
void		 accept_token_main_died(struct accept_token *, unsigned main);

/* Returns a descriptor that is readable when that main has got a token. */
int		 accept_token_fd(const struct accept_token *, unsigned main);
void		 accept_token_reset_fd(const struct accept_token *,
		    unsigned main);
/* In a main: it has no client.  Returns whether it holds a token. */
bool		 accept_token_idle(struct accept_token *, unsigned main);
/* In a main: it has a client.  Passes its token on. */
void		 accept_token_busy(struct accept_token *, unsigned main);

#endif
