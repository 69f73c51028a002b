/*
 * recv: the steps that read: recv and parse take in a request, discard drops a
 * body, and linger drops what comes after the end.
 */
#include <sys/param.h>

#include <string.h>

#include "http/conn.h"
#include "http/limits/pace.h"
#include "http/limits/timeouts.h"
#include "http/park.h"
#include "http/peer.h"
#include "http/reply.h"
#include "lib/compiler.h"
#include "stats/stats.h"

#define OWN_READ_SIZE	4096	/* bytes of a recv behind own input */
/* Bytes that a connection may discard in an iteration; they take less than a
 * millisecond. */
#define READ_QUOTA	(2 * 1024 * 1024)
#define DRAIN_TIMEOUT_MS 2000	/* for a last request */
#define NO_DEADLINE	INT64_MAX /* before recv_park() */

/* Makes room behind the connection's own input.  The input may hold a password,
 * so a copy leaves no bytes behind. */
static NOINLINE char *
make_own_room(struct conn *c)
{
	struct buf	*own = &c->own_input, larger = { 0 };

	conn_keep_input(c);
	buf_consume(own, (size_t)(c->input - own->at));
	if (own->size - own->len < OWN_READ_SIZE) {
		buf_reserve(&larger, 2 * own->len + OWN_READ_SIZE);
		buf_add(&larger, own->at, own->len);
		buf_wipe(own);
		*own = larger;
	}
	c->input = own->at;
	return own->at + own->len;
}

/* Waits for input: into the workspace's room, or behind the connection's own
 * input. */
static enum go
read_input(struct conn *c, enum timeout timeout, int64_t deadline,
    unsigned flags)
{
	struct wait	*w = &c->wait;

	if (c->input_len != 0) {
		w->room = make_own_room(c);
		w->size = OWN_READ_SIZE;
	} else {
		if (c->own_input.at != NULL)
			conn_keep_input(c);
		w->room = c->workspace->room;
		w->size = c->workspace->size;
	}
	return conn_wait(c, WAIT_READ, timeout, deadline, flags);
}

/* Takes what the wait has brought. */
static inline void
take_input(struct conn *c)
{
	const struct wait	*w = &c->wait;
	size_t			 n = (size_t)w->n;

	if (c->input_len != 0)
		c->own_input.len += n;
	else {
		c->read_at = c->input = w->room;
		c->read_len = n;
	}
	c->filled = n == w->size;
	c->input_len += n;
	c->used_in += n;
	stats_add(STATS_BYTES_IN, (uint64_t)n);
}

/* The next READ is tried at once, unless the quota is used. */
static unsigned
read_flags(struct conn *c)
{
	if (c->used_in < READ_QUOTA)
		return WAIT_AGAIN;
	c->used_in = 0;
	return WAIT_LATER;
}

/* Waits for the next bytes of a head or a body, which must be complete at a
 * deadline.  The last read may end before a reset or an urgent byte that the
 * system reported with it, so it is to be tried again. */
static COLD enum go
read_more(struct conn *c, enum timeout timeout, int64_t complete)
{
	int64_t	next = c->http->clock->ms + c->http->conf->limits.gap;

	return next < complete ?
	    read_input(c, TIMEOUT_READ, next, read_flags(c)) :
	    read_input(c, timeout, complete, read_flags(c));
}

void
recv_take(struct conn *c)
{
	take_input(c);
}

enum go
recv_more(struct conn *c, enum timeout timeout, int64_t complete)
{
	return read_more(c, timeout, complete);
}

/* Waits for a request.  The deadline of a head counts from its first byte, so
 * dripping bytes do not extend it. */
static enum go
read_request(struct conn *c)
{
	if (c->input_len != 0)
		return read_more(c, TIMEOUT_HEAD,
		    c->started_at + c->http->conf->limits.head);
	return read_input(c, TIMEOUT_IDLE, NO_DEADLINE, 0);
}

/* Does what recv_step() does for a new struct conn, in fewer instructions. */
void
recv_begin(struct conn *c)
{
	c->wait.room = c->workspace->room;
	c->wait.size = c->workspace->size;
	c->wait.outcome = OUTCOME_PENDING;
	conn_wait(c, WAIT_READ, TIMEOUT_IDLE, NO_DEADLINE, 0);
}

void
recv_park(struct conn *c)
{
	const struct http_loop	*http = c->http;
	struct conf_timeout	 timeout = http->draining ?
				    (struct conf_timeout){ DRAIN_TIMEOUT_MS, 0 }
				    : timeouts_idle(c->session);

	c->wait.timeout = http->draining ? TIMEOUT_DRAIN : TIMEOUT_IDLE;
	c->wait.deadline = http->clock->ms + timeout.ms;
	c->wait.term = timeout.term;
}

/* Ends a connection between two requests for a reason of ours, a drain or an
 * eviction.  The client was promised an open connection: its next request may
 * have come in this very moment, so one more READ is tried.  In a drain, which
 * needs no room, the close is one that does not reset a request on its way. */
static enum go
read_last_request(struct conn *c)
{
	if (!c->last_try) {
		c->last_try = c->close = true;
		return read_input(c, TIMEOUT_DRAIN, 0, WAIT_AGAIN);
	}
	if (!c->http->draining)
		return conn_go(c, STEP_CLOSE);
	c->end_flags = WAIT_END;
	c->started_at = c->http->clock->ms;
	return conn_go(c, STEP_LINGER);
}

static COLD enum go
handle_no_input(struct conn *c, enum outcome outcome)
{
	if (c->input_len == 0 && (c->http->draining || c->last_try ||
	    outcome == OUTCOME_CANCELLED))
		return read_last_request(c);
	if (outcome != OUTCOME_TIMED_OUT || c->input_len == 0)
		return conn_go(c, STEP_CLOSE);
	peer_restore(c->session);
	return reply_error_close(c, reply_why(c, WHY_HEAD_LATE));
}

/* Does what comes before the first request. */
static COLD enum go
open_session(struct conn *c)
{
	if (c->session->opening == OPENING_REFUSED)	/* for any request */
		return reply_error_close(c, reply_why(c, WHY_CONNECTION_LIMIT));
	if (c->session->opening == OPENING_STRANGER)
		return peer_refuse_header(c, PEER_STRANGER, NULL);
	c->started_at = c->http->clock->ms;
	return conn_go(c, STEP_PROXY);
}

enum go
recv_step(struct conn *c)
{
	enum outcome	outcome = conn_outcome(c);

	if (is_failure(outcome))
		return handle_no_input(c, outcome);
	if (outcome == OUTCOME_READY) {
		if (c->wait.n <= 0)
			return conn_go(c, STEP_CLOSE);
		if (c->input_len == 0)
			c->started_at = c->http->clock->ms;
		take_input(c);
		return conn_go(c, STEP_PARSE);
	}
	if (c->session->opening != OPENING_NONE)
		return open_session(c);
	return conn_has_output(c) ? conn_send(c, STEP_RECV) : read_request(c);
}

static COLD enum go
refuse_head(struct conn *c)
{
	peer_restore(c->session);
	return reply_error_close(c, c->request->parse.status);
}

enum go
parse_step(struct conn *c)
{
	if (conn_must_send(c))
		return conn_send(c, STEP_PARSE);
	if (c->request == NULL)
		conn_request_begin(c);
	switch (parse_feed(&c->request->parse, &c->http->parse_limits, c->input,
	    c->input_len)) {
	case PARSE_MORE:
		return conn_go(c, STEP_RECV);
	case PARSE_DONE:
		return conn_go(c, STEP_ROUTE);
	default:
		return refuse_head(c);
	}
}

/* Consumes bytes of the body; *used: how many of these are body. */
static enum chunked_result
consume_body(struct conn *c, const char *bytes, size_t len, size_t *used)
{
	struct request	*r = c->request;

	if (r->parse.chunked)
		return chunked_feed(&r->discard.chunked,
		    &c->http->chunked_limits, bytes, len, used);
	*used = (size_t)MIN((int64_t)len, r->discard.left);
	r->discard.left -= (int64_t)*used;
	return r->discard.left == 0 ? CHUNKED_DONE : CHUNKED_MORE;
}

/* The head is still needed: it moves up behind the bytes, which costs less than
 * moving those that follow. */
void
recv_drop_body(struct conn *c, size_t n)
{
	memmove(c->input + n, c->input, c->request->parse.size);
	c->input += n;
	c->input_len -= n;
}

/* Discards the body bytes in the input. */
static enum chunked_result
discard_input(struct conn *c)
{
	size_t			head = c->request->parse.size, n;
	enum chunked_result	result;

	result = consume_body(c, c->input + head, c->input_len - head, &n);
	recv_drop_body(c, n);
	return result;
}

void
recv_put_continue(struct conn *c)
{
	static const char	line[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct request		*r = c->request;

	if (r->discard.expect_continue)
		output_write(conn_output(c), line, sizeof(line) - 1);
	r->discard.expect_continue = false;
}

void
recv_body_begin(struct conn *c)
{
	struct request		*r = c->request;
	struct conf_timeout	 timeout;

	if (r->discard.deadline != 0)
		return;
	timeout = timeouts_body(c);
	r->discard.deadline = c->http->clock->ms + timeout.ms;
	r->discard.term = timeout.term;
}

enum go
recv_try(struct conn *c)
{
	return read_input(c, TIMEOUT_BODY, 0, WAIT_AGAIN);
}

enum go
recv_body_wait(struct conn *c)
{
	struct request	*r = c->request;
	enum go		 go;

	recv_put_continue(c);
	if (conn_has_output(c))
		return conn_send(c, c->step);
	recv_body_begin(c);
	go = read_more(c, TIMEOUT_BODY, r->discard.deadline);
	if (c->wait.timeout == TIMEOUT_BODY)
		c->wait.term = r->discard.term;
	return go;
}

bool
recv_body_came(struct conn *c, enum go *go)
{
	enum outcome	outcome = conn_outcome(c);
	bool		read = outcome == OUTCOME_READY;

	if (outcome == OUTCOME_TIMED_OUT)
		*go = reply_error_close(c, reply_why(c, WHY_BODY_LATE));
	else if (is_failure(outcome) || (read && c->wait.n == -1))
		*go = conn_abort(c);
	else if (read && c->wait.n == 0)	/* the client has ended */
		*go = reply_error_close(c, reply_why(c, WHY_BODY_CUT));
	else {
		if (read)
			take_input(c);
		if (c->input_len > c->request->parse.size)
			c->request->discard.expect_continue = false;
		return true;
	}
	return false;
}

enum go
discard_step(struct conn *c)
{
	enum go	go;

	if (!recv_body_came(c, &go))
		return go;
	switch (discard_input(c)) {
	case CHUNKED_DONE:
		return conn_go(c, STEP_AUTHORIZE);
	case CHUNKED_REFUSED:
		return reply_error_close(c, c->request->discard.chunked.status);
	default:
		return recv_body_wait(c);
	}
}

/* Whether the client still takes the response, at least as fast as a wait for
 * WRITE demands.  Then a timeout of the linger is not the end. */
static bool
takes_response(struct conn *c)
{
	const struct conf	*conf = c->http->conf;
	uint64_t		 least = pace_min_progress(c) *
				    (uint64_t)conf->limits.linger /
				    (uint64_t)conf->limits.send;
	size_t			 before = c->unacked;

	if (conf->limits.linger == 0)
		return false;
	c->unacked = (size_t)c->wait.n;
	return c->unacked > 0 && c->unacked + least < before;
}

enum go
linger_step(struct conn *c)
{
	struct http_loop	*http = c->http;
	enum outcome		 outcome = conn_outcome(c);
	bool			 goes_on = outcome == OUTCOME_NONE;

	if (outcome == OUTCOME_READY && c->wait.n > 0) {
		/* Dropped, and cleared. */
		explicit_bzero(c->wait.room, (size_t)c->wait.n);
		c->used_in += (size_t)c->wait.n;
		goes_on = true;
	} else if (outcome == OUTCOME_TIMED_OUT && takes_response(c)) {
		c->started_at = http->clock->ms;
		goes_on = true;
	}
	if (!goes_on)
		return conn_go(c, STEP_CLOSE);
	return read_input(c, TIMEOUT_LINGER,
	    c->started_at + http->conf->limits.linger,
	    c->end_flags | read_flags(c));
}
