/*
 * channel: what main and the monitor say to each other over their stream pipe.
 *
 * One byte a message, a descriptor beside some.  Main asks, the monitor, which
 * has kept the privileges, does; either sees the other's end as the end of the
 * pipe.
 */
#ifndef SHARED_CHANNEL_H
#define SHARED_CHANNEL_H

#define CHANNEL_MESSAGES(X)							\
	X(READY,	"ready")	/* main: serving */		\
	X(DRAINING,	"drains")	/* main: takes no new client */	\
	X(ALIVE,	"alive")	/* main: its loop turns */	\
	X(WANT_HELPER,	"want helper")	/* main */			\
	X(WANT_ACCESS_LOGGER,	"want log helper")	/* main */		\
	X(KILL_HELPER,	"end helper")	/* main: its pipe, as its name */ \
	X(HELPER,	"helper")	/* monitor: its pipe, or -1: cannot */ \
	X(ACCESS_LOGGER,	"log helper")	/* monitor: the same */		\
	X(REQUEST,		"ask")		/* monitor: a pipe, in which there is \
					 * a line of control.h, and beside it \
					 * the descriptor for the answer */

enum channel_message {
#define X(id, name) CHANNEL_##id,
	CHANNEL_MESSAGES(X)
#undef X
	CHANNEL_COUNT
};

/* In ms, for main. */
#define CHANNEL_START_DELAY	100	/* to ask for what the first client does not
				 * wait for: all that starts wants the
				 * processor */
#define CHANNEL_RETRY	1000	/* to ask again: its pipe was full, or there
				 * could be none, or what came is dead */
#define CHANNEL_TIMEOUT	3000	/* the monitor never waits: what it has not
				 * answered by then is lost */

/* 0, or -1 with errno. */
int	channel_send(int pipe, enum channel_message, int fd);
/* 1; 0 at the end; -1 with errno (EAGAIN: nothing there). */
int	channel_recv(int pipe, enum channel_message *, int *fd);

#endif
