/*
 * conn: the working state of a connection while its machine runs; for the
 * steps only.
 *
 * While a connection runs, its input and its output are in the workspace that a
 * driver lends to it.  When it must wait for what takes time, conn_park() moves
 * the rest of both to memory of the connection.  A connection between two
 * requests has no rest: its struct conn is recycled, and only its struct
 * session remains.
 */
#ifndef HTTP_CONN_H
#define HTTP_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/http.h"
#include "http/request.h"
#include "http/session.h"
#include "lib/compiler.h"
#include "wait.h"

enum step {
#define STEP(id, name, stage, waits, help) STEP_##id,
#include "http/step.tbl"
#undef STEP
	STEP_COUNT
};

/* The result of a step. */
enum go {
	GO_ON,			/* c->step names the next step */
	GO_WAIT			/* c->wait is set; then the same step again */
};

/* Lookups and reads that one request may cost before it is refused. */
#define REQUEST_ATTEMPTS_MAX	8

/* Bytes that a connection may send before others have their turn: QUOTA in a
 * busy loop, if the body goes on behind them; MAX in any case. */
#define CONN_SEND_QUOTA	(256 * 1024)
#define CONN_SEND_MAX	(8 * CONN_SEND_QUOTA)

#define CONN_COALESCE_MAX	(16 * 1024)	/* bytes of pending output */

struct conn {
	struct http_loop	*http;
	struct session		*session;
	struct workspace	*workspace;	/* NULL: parked */
	struct request		*request;	/* NULL between two requests */
	struct request		*recycle;	/* memory for a next request */
	char			*input;		/* not consumed; begins with */
	size_t			 input_len;	/* the head of the request */
	char			*read_at;	/* the last read into the */
	size_t			 read_len;	/* workspace's room */
	struct buf		 own_input;	/* the connection's memory */
	struct output		*output;	/* the workspace's, or its own;
						 * NULL: parked, none */
	struct wait		 wait;
	int64_t			 started_at;	/* clock ms: head or linger */
	int64_t			 send_deadline;	/* clock ms; 0: none */
	uint64_t		 sent;		/* bytes since it was set */
	size_t			 unacked;	/* at the last linger timeout */
	size_t			 used_in;	/* bytes since it was parked */
	size_t			 used_out;
	uint8_t			 step;		/* enum step */
	uint8_t			 after_send;	/* enum step: after SEND */
	bool			 filled;	/* room, by the last READ */
	bool			 last_try;	/* one more READ, in a drain */
	bool			 last_request;	/* the client's own wish */
	bool			 close, linger;	/* behind it; read on before */
	bool			 send_blocked;	/* this response had to wait */
	bool			 corked;	/* asks for full packets */
	bool			 counts_large, waits_large;	/* of order.c */
	uint8_t			 end_flags;	/* of the CLOSE */
};

enum go		recv_step(struct conn *);
enum go		proxy_step(struct conn *);
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

/* The value of a field that is a list.  Several lines of it are joined behind
 * http->work. */
struct str	 conn_field_list(struct conn *, enum parse_field);
/* Wait for a task, a refresh a short time; send pending output first. */
enum go		conn_wait_disk(struct conn *, struct task *);
enum go		conn_wait_refresh(struct conn *, struct task *);
/* Whether pending output must be sent before a task is submitted: with shared
 * caches the step could not find its task again after the send. */
bool		 conn_must_flush(const struct conn *);
void		 conn_clear_output(struct conn *);	/* drops all pieces */
/* Moves unconsumed input from the workspace to the connection's memory. */
void		 conn_keep_input(struct conn *);
/* Moves all that is needed later out of the workspace, and leaves it. */
void		 conn_park(struct conn *);
/* Gives an idle session a struct conn. */
struct conn	*conn_begin(struct session *);
/* Recycles the struct conn; it stays readable until the next conn_begin(). */
void		 conn_end(struct session *);
void		 conn_request_begin(struct conn *);
void		 conn_request_end(struct conn *);
/* Releases what the response was to be made from; the request stays. */
void		 conn_request_reset(struct conn *);
/* Drops the output, logs the request and ends the connection. */
COLD enum go	 conn_abort(struct conn *);
COLD enum go	 conn_reset(struct conn *);	/* the same with WAIT_RESET */

/* The only place where c->step changes. */
static inline enum go
conn_go(struct conn *c, enum step step)
{
	c->step = (uint8_t)step;
	return GO_ON;
}

/* How the last wait ended; NONE on every further call. */
static inline enum outcome
conn_outcome(struct conn *c)
{
	enum outcome	outcome = c->wait.outcome;

	c->wait.outcome = OUTCOME_NONE;
	return outcome;
}

/* Waits; the caller sets the members that only this kind of wait has. */
static inline enum go
conn_wait(struct conn *c, enum wait_kind kind, enum timeout timeout,
    int64_t deadline, unsigned flags)
{
	if (kind != WAIT_WRITE && kind != WAIT_SEND)
		c->corked = false;
	c->wait.kind = (uint8_t)kind;
	c->wait.timeout = (uint8_t)timeout;
	c->wait.flags = (uint8_t)flags;
	c->wait.term = 0;
	c->wait.deadline = deadline;
	return GO_WAIT;
}

/* Sends pending output, then goes on to that step. */
static inline enum go
conn_send(struct conn *c, enum step after_send)
{
	/* A head not yet in the queue may be in memory that a send frees. */
	if (c->request != NULL)
		output_detach(&c->request->response.head);
	c->after_send = (uint8_t)after_send;
	return conn_go(c, STEP_SEND);
}

static inline struct output *
conn_output(const struct conn *c)
{
	return c->output;
}

/* Whether the input is in the workspace's room. */
static inline bool
conn_shares_input(const struct conn *c)
{
	return c->own_input.len == 0;
}

/* Whether the output is in the connection's own memory, to be kept. */
static inline bool
conn_owns_output(const struct conn *c)
{
	return c->output != NULL && c->output->kept;
}

static inline bool
conn_has_output(const struct conn *c)
{
	return conn_output(c)->n > 0;
}

/* Whether pending output must be sent before another response is added.  A
 * client that sends requests and reads no response holds at most so many bytes
 * and one response. */
static inline bool
conn_must_send(const struct conn *c)
{
	const struct output	*o = conn_output(c);

	return o->bytes >= CONN_COALESCE_MAX || !output_has_room(o, 4);
}

#endif
