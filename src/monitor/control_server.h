/*
 * control_server: who asks at the control socket, and what the monitor does
 * about it.
 *
 * The monitor must not wait for any of them: what it does itself is soon done,
 * or is told when it has happened; what could take long is a control child's
 * (control_child.h), what main knows is main's.  These two get the client's
 * descriptor.
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
	CONTROL_STATE_READING,			/* its line is not complete */
	CONTROL_STATE_WAITING,		/* until it has happened */
	CONTROL_STATE_ANSWERED,		/* answered: until the server ends */
	CONTROL_STATE_DELEGATED		/* another process answers it */
};

struct control_client {
	enum control_state		 state;
	enum control_command	 command;
	int			 fd;		/* -1: given away */
	int			 pipe;		/* ELSEWHERE: ends with the
						 * answer; else -1 */
	pid_t			 child;		/* 0: none */
	unsigned		 reload;	/* that a reload waits for */
	unsigned		 generation, mains_asked;	/* whose mains have been asked,
						 * and how many of them */
	int64_t			 deadline;	/* ms; 0: none */
	struct buf		 line;
	TAILQ_ENTRY(control_client)	 link;
};

struct control_server {
	struct control_socket		 socket;
	struct control_socket		 pending;	/* of a conf to come */
	bool				 unchanged;		/* so there is none */
	TAILQ_HEAD(, control_client)	 clients;
	struct buf			 reopen_errors;	/* with the logs */
};

/* Takes the socket. */
void	control_server_init(struct monitor *, struct control_socket *);
void	control_server_accept(struct monitor *);
/* It has said something, or gone. */
void	control_server_on_readable(struct monitor *, struct control_client *);
/* The descriptor to watch, and whether for more than its end. */
int	control_server_pollfd(const struct control_client *, bool *reads);
/* What is due; ms of what will be, or 0. */
void	control_server_tick(struct monitor *);
int64_t	control_server_next_at(const struct monitor *);
/* All of it closed, the socket removed. */
void	control_server_end(struct monitor *);
/* The same in a child, which leaves the file. */
void	control_server_close_all(struct monitor *);

/* A socket as another conf wants it: prepared (-1 after a line), then either
 * in force or given up. */
int	control_server_prepare(struct monitor *, const struct conf *);
void	control_server_take_over(struct monitor *);
void	control_server_keep(struct monitor *);

/* What has become of a reading of the conf, with all that was wrong. */
void	control_server_reloaded(struct monitor *, unsigned reading,
	    enum control_verdict, const struct buf *wrong);
/* A log could not be opened again. */
void	control_server_reopen_failed(struct monitor *, const char *log);

#endif
