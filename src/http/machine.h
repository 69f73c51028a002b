/*
 * machine: the public interface of the request machine.
 *
 * An architecture makes a session of an accepted socket and runs it.
 * machine_run() returns what the session waits for.  The architecture
 * satisfies that wait, tells the outcome with machine_wake(), and runs the
 * session again.  NULL from machine_run() means that the session has ended and
 * is to be freed.  No function of this header blocks.
 */
#ifndef HTTP_MACHINE_H
#define HTTP_MACHINE_H

#include <stdbool.h>
#include <sys/socket.h>

#include "http/setup.h"
#include "lib/buf.h"
#include "lib/clock.h"
#include "wait.h"

struct session;			/* session.h: a connection */
struct http_loop;		/* http.h: the context of one loop */
struct transport;

/* The stages of the pipelined architecture (Choi et al.); step.tbl says which
 * stage a step belongs to. */
#define STAGES(X)							\
	X(ACCEPT,	"accept")	/* accepts and closes */	\
	X(READ_REQUEST,	"read request")					\
	X(FIND_FILE,	"find file")					\
	X(SEND_HEADER,	"send header")					\
	X(SEND_DATA,	"send data")	/* reads the file, too */

enum stage {
#define X(id, name) STAGE_##id,
	STAGES(X)
#undef X
	STAGE_COUNT
};

/* Has the crash handler name the running step and request, of any thread. */
void		 machine_set_crash_context(void);
/* Takes over the descriptor.  transport NULL: a socket. */
struct session	*machine_new(struct http_loop *, int fd,
		    const struct transport *, void *transport_context,
		    const struct sockaddr *from, size_t listener);
/* The wait stays valid until the next call of the machine. */
const struct wait *machine_run(struct session *);
/*
 * A batch.  machine_run_batch() runs sessions of one loop up to their sends,
 * which it makes one behind the other.  Each session must have passed
 * machine_can_batch().  machine_run() then runs each of them on, and returns
 * its wait.  machine_end_batch() comes after the last.
 */
#define MACHINE_BATCH_MAX	64	/* sessions */
bool		 machine_can_batch(const struct session *);
void		 machine_run_batch(struct session *const *, unsigned n);
void		 machine_end_batch(struct http_loop *);
/*
 * As machine_run(), but runs steps of one stage only.  NULL with *stage
 * changed: the next step is of that stage.  Until that stage runs the session,
 * it belongs to no loop; machine_move() gives it to a loop that has the same
 * caches.
 */
const struct wait *machine_run_stage(struct session *, enum stage *);
void		 machine_move(struct session *, struct http_loop *);
/* Tells the outcome of the wait; machine_run() comes next. */
void		 machine_wake(struct session *, enum outcome);
void		 machine_free(struct session **);
/* Whether it is between two requests: a close loses nothing. */
bool		 machine_is_idle(const struct session *);
/* Whether it is between two requests on its way to the stage that reads, and
 * has read all input. */
bool		 machine_is_parked(const struct session *);
/* Whether it waits for input though it may have some left, as its quota was
 * used.  With edge-triggered readiness the watch must be armed again. */
bool		 machine_has_input(const struct session *);
/* Whether its client has acknowledged all output. */
bool		 machine_is_flushed(const struct session *);
const char	*machine_step_name(const struct session *);

#endif
