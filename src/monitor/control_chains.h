/*
 * control_chains: the command chain of the control socket.
 */
#ifndef MONITOR_CONTROL_CHAINS_H
#define MONITOR_CONTROL_CHAINS_H

#include <stdbool.h>

struct buf;
struct conf_program;
struct control_request;
struct generation;

/* Whether a request reloads a chain. */
bool	control_chains_reloads(const struct control_request *);
/* Makes outdated all results of chains with a filter that has this application,
 * in a control child.  0, or an errno: those on disk may still be used. */
int	control_chains_renew(const struct generation *,
	    const struct conf_program *application);
/* Answers the command, in a control child. */
void	control_chains_answer(const struct control_request *,
	    struct buf *answer);

#endif
