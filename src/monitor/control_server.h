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

struct control_server_calls {
	void		(*reload)(void);
	unsigned	(*reload_number)(void);	/* of the last one begun */
	void		(*reopen)(void);
};

void	control_server_init(const struct control_server_calls *);

/* The first generation serves: puts the socket that main() made in its place,
 * once. */
void	control_server_begin(void);
/* A new generation starts: makes its socket if that differs from the present
 * one.  Returns 0, or -1 after a line in the log.  One of the next two
 * functions follows. */
int	control_server_prepare(const struct conf *);
/* Puts the prepared socket in place of the present one. */
void	control_server_take_over(void);
/* Keeps the present socket and removes the prepared one. */
void	control_server_keep(void);

/* Tells all clients that wait for this reload, or an earlier one, how it has
 * ended.  errors: the lines that it logged, or NULL. */
void	control_server_reloaded(unsigned reload, enum control_verdict,
	    const struct buf *errors);
/* Notes, for clients that wait for a reopen, that a log could not be opened. */
void	control_server_reopen_failed(const char *log);
/* Answers these clients. */
void	control_server_reopened(void);

#endif
