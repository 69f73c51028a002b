/*
 * control_chains: the command chain of the control socket.
 */
#ifndef MONITOR_CONTROL_CHAINS_H
#define MONITOR_CONTROL_CHAINS_H

#include <stdbool.h>

struct buf;
struct control_request;

/* Whether a request reloads a chain. */
bool	control_chains_reloads(const struct control_request *);
/* Answers the command, in a control child. */
void	control_chains_answer(const struct control_request *,
	    struct buf *answer);

#endif
