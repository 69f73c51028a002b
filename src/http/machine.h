/*
 * machine: the public interface of the request machine.
 *
 * A driver makes a session of an accepted socket and runs it.  machine_run()
 * returns what the session waits for (wait.h).  The driver satisfies that wait,
 * sets its outcome and runs the session again; after CLOSE it frees the
 * session.  Before any other session of the same workspace runs, the session
 * must be parked.  No function of this header blocks.
 */
#ifndef HTTP_MACHINE_H
#define HTTP_MACHINE_H

#include <sys/socket.h>
#include <sys/uio.h>

#include <stdbool.h>

#include "http/output.h"
#include "http/setup.h"
#include "lib/buf.h"
#include "lib/clock.h"
#include "wait.h"

struct conn;			/* conn.h: a session while it runs */
struct session;			/* session.h: a connection */
struct http_loop;		/* http.h: the context of one loop */

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
/* A set of stages: those that a driver runs. */
#define STAGE_BIT(id)	(1U << STAGE_##id)
#define STAGES_ALL	((1U << STAGE_COUNT) - 1)

#define MACHINE_INPUT_SIZE	(64 * 1024)	/* bytes that one READ brings */
#define MACHINE_IOV_MAX		32		/* pieces of a WRITE */

/* Memory that a driver lends to the session that runs. */
struct workspace {
	char		*room;		/* for input; the driver's */
	size_t		 size;
	struct iovec	 iov[MACHINE_IOV_MAX];	/* of a WRITE */
	struct output	 output;
};

/* Makes so many workspaces, as an array to be freed by free(), without room for
 * input. */
struct workspace *machine_new_workspaces(unsigned n);

/* A client that is not a plain socket's. */
struct client_kind {
	/* Called at the end of a request that no client has made; the request
	 * is neither counted nor logged.  NULL: clients make the requests. */
	void	(*request_ended)(const struct client_kind *,
		    const struct conn *);
	bool	trusted;	/* the administrator's: no guards, no pace, any
				 * number of requests */
	bool	no_files;	/* takes no SEND: it must see all bytes */
	bool	no_programs;	/* 404 for a path of a program */
	bool	no_answers;	/* a walk's: the status means nothing, and no
				 * refusal is logged */
	bool	background;	/* a hint's: refused where there is a guard; its
				 * disk work is in the background */
};

/* kind NULL: a plain client; else it outlives the session. */
struct session	*machine_new(struct http_loop *, const struct client_kind *,
		    const struct sockaddr *from, size_t listener);
/* Runs steps of these stages until one must wait, or the next step is of
 * another stage.  The wait stays valid until the session runs again, and for an
 * idle session until any other one begins a request. */
struct wait	*machine_run(struct session *, struct workspace *,
		    unsigned stages);
/*
 * Moves all that is needed later from the workspace to memory of the session,
 * and fixes the deadline of a WRITE.  To be called before the session waits for
 * what may take time, and before machine_move() to a loop that has the same
 * caches.  An operation must then be asked for again: NONE is its
 * outcome when the descriptor is ready.
 */
void		 machine_park(struct session *);
void		 machine_move(struct session *, struct http_loop *);
/* Sets the outcome of a session that is parked, and n of it; for WAIT_TIME
 * expiry is success. */
void		 machine_wake(struct session *, enum outcome, ssize_t n);
/* Logs and counts the response that is under way, if there is one: main ends,
 * and machine_free() follows. */
void		 machine_break_off(struct session *);
void		 machine_free(struct session **);
/* Whether the session is between two requests: a close loses nothing. */
bool		 machine_is_idle(const struct session *);
/* Lets the processor fetch what the next step of each session, which waits for
 * the stage FIND_FILE, is about to read. */
void		 machine_prefetch(struct session *const *, unsigned n);
const char	*machine_step_name(const struct session *);

#define MACHINE_BATCH_MAX	64	/* sessions that run side by side */

#endif
