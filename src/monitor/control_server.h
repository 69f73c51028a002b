/*
 * control_server: the clients of the control socket, and the monitor's part of
 * each command.
 *
 * The monitor must not wait for a client or a file system.  A command that is
 * done at once is answered at once.  A command whose effect comes later is
 * answered then.  A control child (control_child.h) or main answers the others:
 * they get the client's descriptor.
 */
#ifndef MONITOR_CONTROL_SERVER_H
#define MONITOR_CONTROL_SERVER_H

#include "shared/control.h"

struct conf;

/* Makes the socket of the generation that is to start with this conf, if it
 * differs from the present one; the socket takes its place when that generation
 * serves.  Returns 0, or -1 after a line in the log.  take_over: its name may
 * be taken from another server. */
int	control_server_prepare(const struct conf *, bool take_over);
/* Keeps the present socket and removes the prepared one. */
void	control_server_keep(void);

/* Tells all clients that wait for this reload, or an earlier one, how it has
 * ended.  errors: the lines that it logged, or NULL. */
void	control_server_reloaded(unsigned reload, enum control_verdict,
	    const struct buf *errors);
/* Notes, for clients that wait for a reopen, that a log could not be opened. */
void	control_server_reopen_failed(const char *log);
/* Answers the clients that wait for a reopen. */
void	control_server_reopened(void);

#endif
