/*
 * wait: CONTRACT between the request machine and the architectures.
 *
 * A step of the machine runs until it must wait, names what it waits for, and
 * returns.  A step never blocks, makes no system call for a client, and does
 * not know who satisfies its wait.  Of a session, a driver sees only the wait:
 * the driver performs the operation or waits for the event, sets the outcome,
 * and runs the machine again (http/machine.h).
 */
#ifndef WAIT_H
#define WAIT_H

#include <sys/socket.h>
#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kinds of wait.  Those of the net are operations. */
#define WAIT_KINDS(X)							\
	X(READ,		"net read")	/* bytes into its room */	\
	X(WRITE,	"net write")	/* its pieces of memory */	\
	X(SEND,		"net send")	/* its range of a file */	\
	X(ADDRESSES,	"net addresses") /* of both ends */		\
	X(DISK,		"disk")		/* its task is complete */	\
	X(BACKEND,	"program")	/* its program says more */	\
	X(TIME,		"time")		/* its deadline, nothing else */ \
	X(STAGE,	"stage")	/* another stage runs it on */	\
	X(CLOSE,	"close")	/* the session has ended */

enum wait_kind {
#define X(id, name) WAIT_##id,
	WAIT_KINDS(X)
#undef X
	WAIT_KIND_COUNT
};

/*
 * The class of a wait's deadline.  Deadlines of one class and term are handed
 * out in ascending order, except for a few, so that an architecture can keep a
 * plain list for each.  A wait with two deadlines asks for the earlier one.
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
	X(REFRESH,	"refresh")	/* for a task, before an older answer \
					 * is used */			\
	X(PROGRAM,	"program")	/* for a program to begin, or go on */ \
	X(LEAVE,	"leave")	/* for the same, before its client is \
					 * taken as gone */		\
	X(LINGER,	"linger")	/* for the client to close */

enum timeout {
#define X(id, name) TIMEOUT_##id,
	TIMEOUTS(X)
#undef X
	TIMEOUT_COUNT
};

/* Terms beside 0: lengths that a timeout has for some targets.  A term stands
 * for a class and a length. */
#define WAIT_TERMS_MAX	32

/* How a wait ended.  Steps are told NONE if they have not waited yet, or are to
 * ask again. */
#define OUTCOMES(X)							\
	X(NONE,		"none")						\
	X(READY,	"ready")	/* performed: n and error are set */ \
	X(TIMED_OUT,	"timed out")					\
	X(FAILED,	"failed")					\
	X(CANCELLED,	"cancelled")					\
	X(PENDING,	"pending")	/* the wait has not ended */	\
	X(ENDED,	"ended")	/* the client sends no more */

enum outcome {
#define X(id, name) OUTCOME_##id,
	OUTCOMES(X)
#undef X
	OUTCOME_COUNT
};

/* Whether a wait ended without success. */
static inline bool
is_failure(enum outcome outcome)
{
	return outcome > OUTCOME_READY;
}

/* Properties of an operation, a BACKEND, or a CLOSE. */
enum wait_flag {
	/* READ: to be tried though the last one brought less than its room: a
	 * reset or an urgent byte may follow. */
	WAIT_AGAIN	= 1 << 0,
	/* Not to be tried before the descriptor is reported as ready, even if
	 * it is: other connections come first.  With INPUT: that may be there,
	 * in a layer. */
	WAIT_LATER	= 1 << 1,
	/* WRITE: more follows at once, and the system may hold these bytes back
	 * for it. */
	WAIT_MORE	= 1 << 2,
	/* WRITE, SEND: the system sends full packets only, until an operation
	 * without this flag or a wait of another kind. */
	WAIT_CORK	= 1 << 3,
	/* WRITE, SEND: of bytes that are in memory now, and perhaps not later:
	 * to be performed before any other session runs. */
	WAIT_AT_ONCE	= 1 << 4,
	/* READ, CLOSE: the output ends here. */
	WAIT_END	= 1 << 5,
	/* CLOSE: the system drops what the client has not received. */
	WAIT_RESET	= 1 << 6,
	/* BACKEND: ends, too, when the client has sent more, or no more. */
	WAIT_INPUT	= 1 << 7,
	/* BACKEND: ends, too, ENDED, when the client has sent its end, behind
	 * what is unread.  The bit has another meaning for a READ. */
	WAIT_ENDING	= WAIT_AGAIN,
	/* WRITE, SEND: much of the response is left, and the system sends what
	 * has not this flag first.  The bit has another meaning for a
	 * BACKEND. */
	WAIT_LARGE	= WAIT_INPUT
};

struct backend;			/* backend.h */
struct iovec;
struct task;			/* task.h */

/* Of a connection; an end that is not known has the family AF_UNSPEC. */
struct wait_addresses {
	struct sockaddr_storage	own, peer;
};

struct wait {
	uint8_t		 kind;		/* enum wait_kind */
	uint8_t		 timeout;	/* enum timeout, of the deadline */
	uint8_t		 flags;		/* of enum wait_flag */
	uint8_t		 term;		/* of the timeout; 0: its usual one */
	uint8_t		 stage;		/* STAGE: the next one */
	/* Clock ms.  0, READ: it does not wait, but times out. */
	int64_t		 deadline;
	union {
		struct task	*task;		/* DISK */
		struct backend	*backend;	/* BACKEND */
		struct wait_addresses *addresses; /* ADDRESSES: set, and the
						 * wait ends at once */
	};
	/* READ.  A driver may take another place, no larger, which lasts as
	 * long, and set room and size. */
	char		*room;
	const struct iovec *iov;	/* WRITE */
	off_t		 offset;	/* SEND */
	int		 niov;		/* WRITE */
	int		 file;		/* SEND */
	size_t		 size;		/* of the room or of all bytes to go */
	/*
	 * Set by the driver: the outcome, and for READY of an operation its
	 * result as of the system's call: bytes, or -1 and an errno (never
	 * EAGAIN or EINTR).  For the TIMED_OUT of a LINGER or LEAVE timeout, n
	 * is the bytes of output that the client has not acknowledged.
	 */
	uint8_t		 outcome;	/* enum outcome */
	int		 error;
	ssize_t		 n;
};

#endif
