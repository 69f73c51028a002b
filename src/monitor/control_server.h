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

enum ctl_state {
	CTL_STATE_ASKS,			/* its line is not complete */
	CTL_STATE_WAITS,		/* until it has happened */
	CTL_STATE_STAYS,		/* answered: until the server ends */
	CTL_STATE_ELSEWHERE		/* another process answers it */
};

struct ctl_client {
	enum ctl_state		 state;
	enum ctl_command	 command;
	int			 fd;		/* -1: given away */
	int			 pipe;		/* ELSEWHERE: ends with the
						 * answer; else -1 */
	pid_t			 clerk;		/* 0: none */
	unsigned		 reading;	/* that a reload waits for */
	unsigned		 generation, asked;	/* whose mains have been asked,
						 * and how many of them */
	int64_t			 deadline;	/* ms; 0: none */
	struct buf		 line;
	TAILQ_ENTRY(ctl_client)	 link;
};

struct ctl_clients {
	struct ctl_socket		 socket;
	struct ctl_socket		 coming;	/* of a conf to come */
	bool				 stays;		/* so there is none */
	TAILQ_HEAD(, ctl_client)	 list;
	struct buf			 trouble;	/* with the logs */
};

/* Takes the socket. */
void	ctl_clients_init(struct monitor *, struct ctl_socket *);
void	ctl_clients_knock(struct monitor *);
/* It has said something, or gone. */
void	ctl_clients_hear(struct monitor *, struct ctl_client *);
/* The descriptor to watch, and whether for more than its end. */
int	ctl_clients_ear(const struct ctl_client *, bool *says);
/* What is due; ms of what will be, or 0. */
void	ctl_clients_look(struct monitor *);
int64_t	ctl_clients_due(const struct monitor *);
/* All of it closed, the socket removed. */
void	ctl_clients_end(struct monitor *);
/* The same in a child, which leaves the file. */
void	ctl_clients_leave(struct monitor *);

/* A socket as another conf wants it: prepared (-1 after a line), then either
 * in force or given up. */
int	ctl_clients_prepare(struct monitor *, const struct conf *);
void	ctl_clients_take_over(struct monitor *);
void	ctl_clients_stay(struct monitor *);

/* What has become of a reading of the conf, with all that was wrong. */
void	ctl_clients_reloaded(struct monitor *, unsigned reading,
	    enum ctl_verdict, const struct buf *wrong);
/* A log could not be opened again. */
void	ctl_clients_trouble(struct monitor *, const char *log);

#endif
