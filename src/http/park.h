/*
 * park: what the machine needs of the steps recv and send when a session
 * becomes idle, begins again, or waits for its client to take output.
 */
#ifndef HTTP_PARK_H
#define HTTP_PARK_H

#include "http/conn.h"

/* Asks for the first input of an idle session. */
void		 recv_begin(struct conn *);
/* Fixes the deadline of a session that becomes idle. */
void		 recv_park(struct conn *);
/* Fixes what a wait for the client to take output needs: its deadline, and the
 * pieces that are kept meanwhile. */
COLD void	 send_park(struct conn *);

#endif
