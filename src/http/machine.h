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

#include "lib/buf.h"
#include "lib/clock.h"
#include "task.h"
#include "wait.h"

struct addresses;		/* shared/addresses.h */
struct conf;
struct peer;			/* a connection, whatever it is doing */
struct http;			/* one loop's world: store, buffers, clock */
struct store;			/* caches.h */
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

struct http_setup {
	const struct conf	*conf;
	struct clock		*clock;		/* the loop's */
	struct disk		 disk;		/* who takes errands */
	/* The caches that it shares with other loops, the caller's, and later
	 * is the store's; NULL: it has its own, for so many descriptors. */
	struct store		*store;
	size_t			 descriptors;	/* for files kept open */
	int			 pagemap;	/* of pagemap.h, stays the
						 * caller's; 0 or -1: none */
	struct addresses	*addresses;	/* the caller's; NULL: theirs
						 * have no limits */
	/* Where access log lines go: asked for room for so many bytes, and then
	 * told how many a line has that stands there.  NULL: nowhere, or this
	 * one is lost. */
	char			*(*log_room)(void *, size_t most);
	void			(*log)(void *, size_t);
	void			*log_context;
	/* Asks for http_tidy(); NULL: nothing is put off. */
	void			(*later)(void *);
	void			*later_context;
	/* Asks for http_verify(), from any thread; if the store is shared. */
	void			(*call)(void *);
	void			*call_context;
};

struct http	*http_new(const struct http_setup *);
void		 http_free(struct http **);	/* all connections freed */
/* Caches, a line each, to a function that takes lines. */
void		 http_report(struct http *, void (*)(const char *));
void		 http_measure(const struct http *);	/* gauges, counters */
/* Work that is too much for one turn of a loop: some of it; true: there is more
 * for the turns to come. */
bool		 http_tidy(struct http *);
void		 http_verify(struct http *);	/* passwords that waited */
/* From now on connections end with the next response; who waits for a request
 * is to be woken, as READY, to wait less. */
void		 http_drain(struct http *);
void		 http_resume(struct http *);	/* they need not any more */

/* Takes the descriptor.  transport NULL: a plain socket. */
struct peer	*machine_new(struct http *, int fd,
		    const struct transport *, void *transport_context,
		    const struct sockaddr *from, size_t listener);
/* Good until the machine is asked for anything else. */
const struct wait *machine_run(struct peer *);
/*
 * Those who are about to read, all of one http, may be run together: as far as
 * their answers go, and then, with machine_run, each by itself, which says what
 * it waits for.  When all have been, they part.
 */
#define MACHINE_TOGETHER	64	/* at most */
bool		 machine_is_to_read(const struct peer *);
void		 machine_run_together(struct peer *const *, unsigned n);
void		 machine_part(struct http *);
/*
 * As machine_run, but no step of another stage: NULL, and which one is next, if
 * one of those is.  From there on that stage runs it, and until then it belongs
 * to nobody's loop, and may be moved to that of another of the same store.
 */
const struct wait *machine_run_stage(struct peer *, enum stage *);
void		 machine_move(struct peer *, struct http *);
/* The outcome of its wait; run it afterwards. */
void		 machine_wake(struct peer *, enum outcome);
void		 machine_free(struct peer **);
/* Between two requests: to close it now loses nothing. */
bool		 machine_idle(const struct peer *);
/* On its way to the stage that reads, between two requests as well, and with
 * nothing left to read that came before. */
bool		 machine_rests(const struct peer *);
/* It waits for input, and has not read all that there was: it is others' turn.
 * Who is told only of what comes is to be told of that anew. */
bool		 machine_unread(const struct peer *);
/* Its client has taken all output. */
bool		 machine_is_through(const struct peer *);
const char	*machine_step(const struct peer *);	/* for logs, tests */

#endif
