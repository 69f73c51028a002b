/*
 * machine: the request machine's whole public face.
 *
 * An architecture opens a connection on an accepted socket, runs it until it
 * says what it waits for, satisfies that wait, tells the outcome, and runs it
 * on; NULL from run means that it is over and wants to be freed.  Nothing here
 * ever blocks.
 */
#ifndef HTTP_MACHINE_H
#define HTTP_MACHINE_H

#include <stdbool.h>
#include <sys/socket.h>

#include "http/setup.h"
#include "lib/buf.h"
#include "lib/clock.h"
#include "wait.h"

struct session;			/* a connection, whatever it is doing */
struct http_loop;			/* one loop's world: store, buffers, clock */
struct transport;

/* What a request goes through in the pipelined architecture (Choi et al.);
 * which step belongs to which is in step.tbl. */
#define STAGES(X)							\
	X(ACCEPT,	"accept")	/* lets in, and sees out */	\
	X(READ_REQUEST,	"read request")					\
	X(FIND_FILE,	"find file")					\
	X(SEND_HEADER,	"send header")					\
	X(SEND_DATA,	"send data")	/* and reads it */

enum stage {
#define X(id, name) STAGE_##id,
	STAGES(X)
#undef X
	STAGE_COUNT
};

/* Takes the descriptor.  transport NULL: a plain socket. */
struct session	*machine_new(struct http_loop *, int fd,
		    const struct transport *, void *transport_context,
		    const struct sockaddr *from, size_t listener);
/* Good until the machine is asked for anything else. */
const struct wait *machine_run(struct session *);
/*
 * Those who are about to read, all of one http, may be run together: as far as
 * their answers go, and then, with machine_run, each by itself, which says what
 * it waits for.  When all have been, they part.
 */
#define MACHINE_BATCH_MAX	64	/* at most */
bool		 machine_can_batch(const struct session *);
void		 machine_run_batch(struct session *const *, unsigned n);
void		 machine_end_batch(struct http_loop *);
/*
 * As machine_run, but no step of another stage: NULL, and which one is next, if
 * one of those is.  From there on that stage runs it, and until then it belongs
 * to nobody's loop, and may be moved to that of another of the same store.
 */
const struct wait *machine_run_stage(struct session *, enum stage *);
void		 machine_move(struct session *, struct http_loop *);
/* The outcome of its wait; run it afterwards. */
void		 machine_wake(struct session *, enum outcome);
void		 machine_free(struct session **);
/* Between two requests: to close it now loses nothing. */
bool		 machine_is_idle(const struct session *);
/* On its way to the stage that reads, between two requests as well, and with
 * nothing left to read that came before. */
bool		 machine_is_parked(const struct session *);
/* It waits for input, and has not read all that there was: it is others' turn.
 * Who is told only of what comes is to be told of that anew. */
bool		 machine_has_input(const struct session *);
/* Its client has taken all output. */
bool		 machine_is_flushed(const struct session *);
const char	*machine_step_name(const struct session *);	/* for logs, tests */

#endif
