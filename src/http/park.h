/*
 * park: what the machine needs of the steps recv, send and finish when a
 * session becomes idle, begins again, waits for its client to take output, or
 * is broken off; and what another step that reads needs of recv.
 */
#ifndef HTTP_PARK_H
#define HTTP_PARK_H

#include "http/conn.h"

/* Takes what a READ has brought; waits for more, which must be complete at a
 * deadline. */
COLD void	 recv_take(struct conn *);
COLD enum go	 recv_more(struct conn *, enum timeout, int64_t complete);
/*
 * Of a body: takes what a READ has brought, if there was one; false: the body
 * has failed, and *go is what follows.  Drops bytes of it that are behind the
 * head.  Waits for more, in the step that runs.
 */
bool		 recv_body_came(struct conn *, enum go *);
void		 recv_drop_body(struct conn *, size_t);
enum go		 recv_body_wait(struct conn *);
/* The parts of recv_body_wait(): tells a client that holds its body back to
 * send it; fixes the deadline (discard) in the first call; reads what is there,
 * else the wait times out at once. */
COLD void	 recv_put_continue(struct conn *);
COLD void	 recv_body_begin(struct conn *);
COLD enum go	 recv_try(struct conn *);
/* Asks for the first input of an idle session. */
void		 recv_begin(struct conn *);
/* Fixes the deadline of a session that becomes idle. */
void		 recv_park(struct conn *);
/* Fixes what a wait for the client to take output needs: its deadline, and the
 * pieces that are kept meanwhile. */
COLD void	 send_park(struct conn *);
/* Logs the response that the end of main cuts; false: none is under way. */
COLD bool	 finish_break_off(struct conn *);

#endif
