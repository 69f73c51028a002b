/*
 * conn: a connection and the exchange under way on it; for the steps only.
 *
 * While a connection runs, its input stands in the loop's buffer, its output in
 * one of the loop's queues.  Only what is left when it must wait is moved to
 * memory of its own (conn_park).  One that waits for its next request has
 * nothing left, and goes as a whole: only its peer is remembered.
 */
#ifndef HTTP_CONN_H
#define HTTP_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/http.h"
#include "http/peer.h"
#include "http/request.h"
#include "http/transport.h"
#include "lib/compiler.h"
#include "wait.h"

enum step {
#define STEP(id, name, stage, waits, help) STEP_##id,
#include "http/step.tbl"
#undef STEP
	STEP_COUNT
};

/* What a step says when it returns. */
enum go {
	GO_ON,			/* c->step is the next one */
	GO_WAIT,		/* c->wait says for what; then the same step */
	GO_OVER			/* the connection is at its end */
};

/* Looks and reads that one request may cost before it is given up. */
#define REQUEST_ATTEMPTS_MAX	8

/* Bytes to be sent until it is others' turn: of a body that goes on; ever. */
#define CONN_SEND_QUOTA	(256 * 1024)
#define CONN_SEND_MAX	(3 * CONN_SEND_QUOTA)

/* Bytes of responses to which another may be added before they are sent. */
#define CONN_COALESCE_MAX	(16 * 1024)

struct conn {
	struct http_loop		*http;
	struct session		*session;
	const struct transport	*transport;	/* the peer's */
	void			*transport_context;
	struct request		*request;	/* NULL between two */
	struct request		*recycle;		/* memory that goes back */
	char			*input;		/* not yet consumed: the head */
	size_t			 input_len;	/* of the request comes first */
	char			*read_at;		/* so much has come, at once, */
	size_t			 read_len;		/* into the loop's buffer */
	struct buf		 own_input;		/* input of our own */
	struct output		*output;	/* the loop's, or of our own */
	struct io_op		*op;		/* made for it, or NULL */
	struct wait		 wait;
	int64_t			 started_at;		/* first byte of the head, ms */
	int64_t			 send_deadline;	/* ms; 0: not set */
	uint64_t		 sent;		/* bytes since that was set */
	size_t			 unacked;	/* as the linger timed out */
	uint8_t			 step;		/* enum step */
	uint8_t			 after_send;		/* the step behind send */
	uint8_t			 outcome;	/* of the last wait */
	uint8_t			 go;		/* enum go, until it is woken */
	bool			 refused;	/* its address has enough */
	bool			 readable;	/* input may be there */
	bool			 last_request;		/* the client asks no more */
	bool			 close;		/* after this response */
	bool			 linger;	/* ... over unread input */
	bool			 send_blocked;	/* for room to send this one */
	bool			 corked;	/* as long as it sends a file */
};

enum go		recv_step(struct conn *);
enum go		parse_step(struct conn *);
enum go		route_step(struct conn *);
enum go		discard_step(struct conn *);
enum go		authorize_step(struct conn *);
enum go		find_step(struct conn *);
enum go		head_step(struct conn *);
enum go		body_step(struct conn *);
enum go		send_step(struct conn *);
enum go		finish_step(struct conn *);
enum go		linger_step(struct conn *);
enum go		close_step(struct conn *);

/* What fills no packet waits for more; or not, if it has. */
void		 conn_set_cork(struct conn *, bool);
enum go		conn_wait_disk(struct conn *, struct task *);
/* Whether a task must not be started before what is pending has been sent:
 * it would be this request's own, and not be found again behind that. */
bool		 conn_must_flush(const struct conn *);
void		 conn_clear_output(struct conn *);	/* all that pends */
/* Where its input is: the loop's buffer, or its own memory.  What is not
 * consumed is kept there from here on, and the loop's is free. */
bool		 conn_shares_input(const struct conn *);
void		 conn_keep_input(struct conn *);
/* Moves what must outlast this turn of the loop to the connection. */
void		 conn_park(struct conn *);
/* One for a peer that was idle; and the way back: it is kept for another peer,
 * and may be read until then. */
void		 conn_begin(struct session *);
void		 conn_end(struct session *);
void		 conn_request_begin(struct conn *);
void		 conn_request_end(struct conn *);
/* Lets go of what the response was to be made from; the request stays. */
void		 conn_request_reset(struct conn *);
/* Nothing more can be sent properly: logs the request, ends the connection. */
COLD enum go	 conn_abort(struct conn *);
/* The same; what the client has not received yet is thrown away. */
COLD enum go	 conn_reset(struct conn *);

/* The one gate for changing step. */
static inline enum go
conn_go(struct conn *c, enum step step)
{
	c->step = (uint8_t)step;
	return GO_ON;
}

/* The outcome of the last wait; READY when asked again. */
static inline enum outcome
conn_outcome(struct conn *c)
{
	enum outcome	outcome = c->outcome;

	c->outcome = OUTCOME_READY;
	return outcome;
}

/* For the socket (READ, WRITE). */
static inline enum go
conn_wait(struct conn *c, enum wait_kind kind, enum timeout timeout,
    int64_t deadline)
{
	if (c->corked && kind != WAIT_WRITE)
		conn_set_cork(c, false);
	c->wait.kind = kind;
	c->wait.timeout = timeout;
	c->wait.deadline = deadline;
	c->wait.task = NULL;
	return GO_WAIT;
}

/* Sends what is pending, then goes on to that step. */
static inline enum go
conn_send(struct conn *c, enum step after_send)
{
	/* Sending frees the scratch that a head not yet put out may be in. */
	if (c->request != NULL)
		output_detach(&c->request->head);
	c->after_send = (uint8_t)after_send;
	return conn_go(c, STEP_SEND);
}

/* The one to use now. */
static inline struct output *
conn_output(const struct conn *c)
{
	return c->output;
}

/* It outlasts the turn. */
static inline bool
conn_owns_output(const struct conn *c)
{
	return c->output->kept;
}

static inline bool
conn_has_output(const struct conn *c)
{
	return conn_output(c)->n > 0;
}

/* Whether the pending output must go before the next response is put behind
 * it.  So a client that sends requests and reads nothing holds so many bytes
 * and one response, however many it asks for. */
static inline bool
conn_must_send(const struct conn *c)
{
	const struct output	*o = conn_output(c);

	return o->bytes >= CONN_COALESCE_MAX || !output_has_room(o, 4);
}

#endif
