/*
 * channel: the messages between a main and the monitor, over a stream pipe.
 *
 * A message is one byte, some with a descriptor.  Main asks; the monitor, which
 * keeps the privileges, acts.  Each side notices the other's end as the end of
 * the pipe.
 */
#ifndef SHARED_CHANNEL_H
#define SHARED_CHANNEL_H

/* Name, and sender: */
#define CHANNEL_MESSAGES(X)						\
	X(READY,	"ready")	/* main: it serves */		\
	X(DRAINING,	"draining")	/* main: it accepts no more */	\
	X(ALIVE,	"alive")	/* main: its loop turns */	\
	X(WANT_HELPER,	"want helper")	/* main: with its notify descriptor, \
					 * if it has one */		\
	X(WANT_ACCESS_LOGGER, "want access logger") /* main */		\
	X(KILL_HELPER,	"kill helper")	/* main: with the helper's pipe */ \
	X(HELPER,	"helper")	/* monitor: with the helper's pipe, \
					 * without if there can be none */ \
	X(ACCESS_LOGGER, "access logger") /* monitor: as HELPER */	\
	X(REQUEST,	"request")	/* monitor: with a pipe, in which is a \
					 * line of control.h together with the \
					 * client's descriptor */	\
	X(WANT_HOT_NAMES, "want hot names") /* monitor: with a file in memory, \
					 * for a list of hot_list.h */	\
	X(HOT_NAMES_WRITTEN, "hot names written") /* main: the list is in the \
					 * file */			\
	X(SHARES,	"shares")	/* monitor: limits are divided among \
					 * as many mains as the scoreboard \
					 * says */			\
	X(HOT_NAMES,	"hot names")	/* monitor: with a file that has a \
					 * list, only to be read */

enum channel_message {
#define X(id, name) CHANNEL_##id,
	CHANNEL_MESSAGES(X)
#undef X
	CHANNEL_COUNT
};

/* Times of main, in ms. */
#define CHANNEL_START_DELAY 100	/* until main asks for its reserve of helpers
				 * and its access logger, so that the first
				 * request gets the processor */
#define CHANNEL_RETRY	1000	/* until main asks again, after a request that
				 * failed or a process that died at once */
#define CHANNEL_TIMEOUT	3000	/* for the monitor's answer; later, main takes
				 * the request as lost */

/* Sends a message, with a descriptor unless fd is -1.  Returns 0, or -1 with
 * errno. */
int	channel_send(int pipe, enum channel_message, int fd);
/* Receives a message, without waiting if the pipe does not wait.  Returns 1; 0
 * at the end; -1 with errno (EAGAIN: there is none).  *fd becomes the caller's;
 * -1: there is none. */
int	channel_recv(int pipe, enum channel_message *, int *fd);

#endif
