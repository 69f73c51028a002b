/*
 * park: what the machine needs of the steps recv and send when a session
 * becomes idle, begins again, or waits for its client to take output; and what
 * another step that reads needs of recv.
 */
#ifndef HTTP_PARK_H
#define HTTP_PARK_H

#include "http/conn.h"

/* Takes what a READ has brought; waits for more, which must be complete at a
 * deadline. */
COLD void	 recv_take(struct conn *);
COLD enum go	 recv_more(struct conn *, enum timeout, int64_t complete);
/* Asks for the first input of an idle session. */
void		 recv_begin(struct conn *);
/* Fixes the deadline of a session that becomes idle. */
void		 recv_park(struct conn *);
/* Fixes what a wait for the client to take output needs: its deadline, and the
 * pieces that are kept meanwhile. */
COLD void	 send_park(struct conn *);

#endif
