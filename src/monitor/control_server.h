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

#include <sys/queue.h>
#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

#include "monitor/control_socket.h"
#include "shared/control.h"

struct conf;
struct monitor;

enum control_state {
	CONTROL_STATE_READING,		/* its line is not complete */
	CONTROL_STATE_WAITING,		/* for a reload or reopen to end */
	CONTROL_STATE_ANSWERED,		/* open until the server ends */
	CONTROL_STATE_DELEGATED		/* another process answers it */
};

struct control_client {
	enum control_state	 state;
	enum control_command	 command;
	int			 fd;		/* -1: another process has it */
	int			 pipe;		/* DELEGATED: ends when the
						 * answer is complete; else
						 * -1 */
	pid_t			 child;		/* control child; 0: none */
	unsigned		 reload;	/* the reload that it waits
						 * for */
	unsigned		 generation;	/* of the mains asked */
	unsigned		 mains_asked;	/* how many mains were asked */
	int64_t			 deadline;	/* ms; 0: none */
	struct buf		 line;
	TAILQ_ENTRY(control_client) link;
};

struct control_server {
	struct control_socket	 socket;
	struct control_socket	 pending;	/* of a generation that is
						 * being started */
	bool			 unchanged;	/* the new generation keeps the
						 * socket: no pending one */
	TAILQ_HEAD(, control_client) clients;
	struct buf		 reopen_errors;	/* text: logs that could not be
						 * opened again */
};

/* Takes the socket, which listens after control_server_take_over(). */
void	control_server_init(struct monitor *, struct control_socket *);
/* Accepts one client. */
void	control_server_accept(struct monitor *);
/* Reads from a client, or notices the end of its connection or pipe. */
void	control_server_on_readable(struct monitor *, struct control_client *);
/* Returns the descriptor to poll; reads: false if only its end matters. */
int	control_server_pollfd(const struct control_client *, bool *reads);
/* Answers clients whose command is done or whose time is over. */
void	control_server_tick(struct monitor *);
/* Returns the earliest deadline (ms), or 0. */
int64_t	control_server_next_at(const struct monitor *);
/* Closes all clients, and removes the socket's file. */
void	control_server_end(struct monitor *);
/* Closes all descriptors, in a child: the file stays. */
void	control_server_close_all(struct monitor *);

/* A new generation starts: makes its socket if that differs from the present
 * one.  Returns 0, or -1 after a line in the log.  One of the next two
 * functions follows. */
int	control_server_prepare(struct monitor *, const struct conf *);
/* Puts the prepared socket in place of the present one. */
void	control_server_take_over(struct monitor *);
/* Keeps the present socket and removes the prepared one. */
void	control_server_keep(struct monitor *);

/* Tells all clients that wait for this reload, or an earlier one, how it has
 * ended.  errors: the lines that it logged, or NULL. */
void	control_server_reloaded(struct monitor *, unsigned reload,
	    enum control_verdict, const struct buf *errors);
/* Notes, for clients that wait for a reopen, that a log could not be opened. */
void	control_server_reopen_failed(struct monitor *, const char *log);

#endif
