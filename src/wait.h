/*
 * wait: CONTRACT between the request machine and the architectures.
 *
 * A step of the machine runs until it must wait, says for what, and returns;
 * it never blocks and never knows who satisfies the wait.  An architecture
 * knows nothing of a connection but its wait: it satisfies that one, tells
 * the outcome, and runs the machine on.
 */
#ifndef WAIT_H
#define WAIT_H

#include <stdint.h>

/* What a connection waits for. */
#define WAIT_KINDS(X)							\
	X(READ,		"net read")	/* its descriptor has input */	\
	X(WRITE,	"net write")	/* its descriptor takes output */ \
	X(DISK,		"disk")		/* its task is done */	\
	X(CHILD,	"child")	/* a program's descriptor is ready */ \
	X(TIME,		"time")		/* its deadline, nothing else */

enum wait_kind {
#define X(id, name) WAIT_##id,
	WAIT_KINDS(X)
#undef X
	WAIT_KIND_COUNT
};

/*
 * For how long.  Within one timeout deadlines are handed out in order (but
 * for a few that come late), so that an architecture can keep them in plain
 * lists.  A wait that has two deadlines asks for the first of them.
 */
#define TIMEOUTS(X)							\
	X(IDLE,		"idle")		/* for the next request */	\
	X(DRAIN,	"parting")	/* for a last one, when draining */ \
	X(READ,		"gap")		/* for the next byte of the two: */ \
	X(HEAD,		"head")		/* for the rest of a head */	\
	X(BODY,		"body")		/* for the rest of a body */	\
	X(SEND,		"send")		/* for the client to take output */ \
	X(PACE,		"pace")		/* for leave to send more */	\
	X(DISK,		"disk")		/* for a task */		\
	X(LINGER,	"linger")	/* for the client to close */

enum timeout {
#define X(id, name) TIMEOUT_##id,
	TIMEOUTS(X)
#undef X
	TIMEOUT_COUNT
};

/* What happened.  A wait for time that has timed out has got what it wanted:
 * to its step that is READY. */
#define OUTCOMES(X)							\
	X(READY,	"ready")					\
	X(TIMED_OUT,	"timed out")					\
	X(FAILED,	"failed")					\
	X(CANCELLED,	"cancelled")

enum outcome {
#define X(id, name) OUTCOME_##id,
	OUTCOMES(X)
#undef X
	OUTCOME_COUNT
};

struct task;			/* task.h */

struct wait {
	enum wait_kind	 kind;
	enum timeout	 timeout;
	int		 fd;		/* READ, WRITE, CHILD */
	struct task	*task;	/* DISK */
	int64_t		 deadline;	/* clock ms */
};

#endif
