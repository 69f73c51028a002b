/*
 * wait: CONTRACT between the request machine and the architectures.
 *
 * A step of the machine runs until it must wait, says for what, and returns.
 * A step never blocks and does not know who satisfies its wait.  An
 * architecture sees of a connection only its wait: the architecture satisfies
 * the wait, passes the outcome to the machine, and runs the machine on.
 */
#ifndef WAIT_H
#define WAIT_H

#include <stdint.h>

/* The kinds of wait. */
#define WAIT_KINDS(X)							\
	X(READ,		"net read")	/* its descriptor has input */	\
	X(WRITE,	"net write")	/* its descriptor takes output */ \
	X(DISK,		"disk")		/* its task is complete */	\
	X(CHILD,	"child")	/* a program's descriptor is ready */ \
	X(TIME,		"time")		/* its deadline, nothing else */

enum wait_kind {
#define X(id, name) WAIT_##id,
	WAIT_KINDS(X)
#undef X
	WAIT_KIND_COUNT
};

/*
 * The class of a wait's deadline.  Deadlines of one class are handed out in
 * ascending order, except for a few, so that an architecture can keep a plain
 * list for each class.  A wait with two deadlines asks for the earlier one.
 */
#define TIMEOUTS(X)							\
	X(IDLE,		"idle")		/* for the next request */	\
	X(DRAIN,	"drain")	/* for a last request, in a drain */ \
	X(READ,		"read")		/* for the next byte of a request */ \
	X(HEAD,		"head")		/* for the rest of a head */	\
	X(BODY,		"body")		/* for the rest of a body */	\
	X(SEND,		"send")		/* for the client to take output */ \
	X(PACE,		"pace")		/* for permission to send more */ \
	X(DISK,		"disk")		/* for a task */		\
	X(LINGER,	"linger")	/* for the client to close */

enum timeout {
#define X(id, name) TIMEOUT_##id,
	TIMEOUTS(X)
#undef X
	TIMEOUT_COUNT
};

/* How a wait ended.  For WAIT_TIME expiry is success: machine_wake() turns
 * TIMED_OUT into READY. */
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
	struct task	*task;		/* DISK */
	int64_t		 deadline;	/* clock ms */
};

#endif
