/*
 * recv: the steps that read: recv and parse take in a request, discard drops a
 * body, and linger drops what comes after the end.
 */
#include <sys/param.h>

#include <errno.h>
#include <string.h>

#include "http/conn.h"
#include "http/limits/pace.h"
#include "http/reply.h"
#include "lib/compiler.h"
#include "stats/stats.h"

#define OWN_READ_SIZE	4096	/* bytes of a recv behind own input */
/* Bytes that a connection may discard in an iteration; they take less than a
 * millisecond. */
#define READ_QUOTA	(2 * 1024 * 1024)
#define DRAIN_TIMEOUT_MS 2000	/* for a last request */

/*
 * Reads behind the connection's own input.  The input may hold a password, so a
 * copy leaves no bytes behind.
 */
static NOINLINE ssize_t
read_behind_own(struct conn *c)
{
	struct buf	*own = &c->own_input, larger = { 0 };
	ssize_t		 n;

	buf_consume(own, (size_t)(c->input - own->at));
	if (own->size - own->len < OWN_READ_SIZE) {
		buf_reserve(&larger, 2 * own->len + OWN_READ_SIZE);
		buf_add(&larger, own->at, own->len);
		buf_wipe(own);
		*own = larger;
	}
	n = c->transport->recv(c->transport_context, c->wait.fd,
	    own->at + own->len, OWN_READ_SIZE);
	if (n > 0)
		own->len += (size_t)n;
	c->input = own->at;
	return n;
}

/* Reads into the loop's buffer, behind the input of a batch. */
static struct io_op *
read_shared(struct conn *c, struct io_op *op)
{
	struct http_loop	*http = c->http;

	op->at = http->input + http->batch_offset;
	op->len = sizeof(http->input) - http->batch_offset;
	op->result = c->transport->recv(c->transport_context, c->wait.fd,
	    op->at, op->len);
	if (op->result == -1)
		op->error = errno;
	return op;
}

/* Reads into the loop's buffer or behind the connection's own input.  A read
 * that fills its room sets c->readable: with edge-triggered readiness a
 * connection that did not read on would wait for ever. */
static ssize_t
read_input(struct conn *c)
{
	struct io_op	*op = c->op, own;
	ssize_t		 n;

	/* A connection may come here twice in an iteration, and in the second
	 * call read behind its own input. */
	if (c->input_len != 0 || c->own_input.at != NULL)
		conn_keep_input(c);
	if (c->input_len != 0) {
		n = read_behind_own(c);
		c->readable = n == OWN_READ_SIZE;
		return n;
	}
	c->op = NULL;
	if (op == NULL)
		op = read_shared(c, &own);
	c->read_at = c->input = op->at;
	c->read_len = op->result > 0 ? (size_t)op->result : 0;
	c->readable = op->result == (ssize_t)op->len;
	if (op->result == -1)
		errno = op->error;
	return op->result;
}

static void
count_input(struct conn *c, ssize_t n)
{
	c->input_len += (size_t)n;
	c->http->bytes_in += (size_t)n;
	stats_add(STATS_BYTES_IN, (uint64_t)n);
}

/* Waits for the next bytes of a head or a body, which must be complete at a
 * deadline.  The last read may end before a reset or an urgent byte that the
 * system reported with it, so c->readable is set for another read. */
static COLD enum go
wait_for_more(struct conn *c, enum timeout timeout, int64_t complete)
{
	int64_t	next = c->http->clock->ms + c->http->conf->limits.gap;

	c->readable = true;
	return next < complete ?
	    conn_wait(c, WAIT_READ, TIMEOUT_READ, next) :
	    conn_wait(c, WAIT_READ, timeout, complete);
}

/* Waits for a request.  The deadline of a head counts from its first byte, so
 * dripping bytes do not extend it. */
static enum go
wait_for_input(struct conn *c)
{
	const struct conf	*conf = c->http->conf;

	if (c->input_len == 0 && c->http->draining)
		return conn_wait(c, WAIT_READ, TIMEOUT_DRAIN,
		    c->http->clock->ms + DRAIN_TIMEOUT_MS);
	if (c->input_len == 0)
		return conn_wait(c, WAIT_READ, TIMEOUT_IDLE,
		    c->http->clock->ms + conf->limits.idle);
	return wait_for_more(c, TIMEOUT_HEAD,
	    c->started_at + conf->limits.head);
}

/* In a drain: tries to read once more from a client that was promised an open
 * connection, and otherwise closes in a way that does not reset a request on
 * its way. */
static enum go
read_last_request(struct conn *c)
{
	ssize_t	n = read_input(c);

	if (n > 0) {
		c->started_at = c->http->clock->ms;
		count_input(c, n);
		return conn_go(c, STEP_PARSE);
	}
	if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
		return conn_go(c, STEP_CLOSE);
	c->transport->shutdown(c->transport_context, c->wait.fd);
	c->started_at = c->http->clock->ms;
	return conn_go(c, STEP_LINGER);
}

static COLD enum go
handle_no_input(struct conn *c, enum outcome outcome)
{
	if (c->http->draining && c->input_len == 0)
		return read_last_request(c);
	if (outcome == OUTCOME_TIMED_OUT && c->input_len > 0)
		return reply_error_close(c, reply_why(c, WHY_HEAD_LATE));
	return conn_go(c, STEP_CLOSE);
}

enum go
recv_step(struct conn *c)
{
	enum outcome	outcome = conn_outcome(c);
	ssize_t		n;

	if (outcome != OUTCOME_READY)
		return handle_no_input(c, outcome);
	if (c->refused)		/* for any request */
		return reply_error_close(c, reply_why(c, WHY_CONNECTION_LIMIT));
	if (conn_has_output(c))
		return conn_send(c, STEP_RECV);
	if (!c->readable)
		return wait_for_input(c);
	n = read_input(c);
	if (n == -1 && (errno == EAGAIN || errno == EWOULDBLOCK ||
	    errno == EINTR))
		return wait_for_input(c);
	if (n <= 0)
		return conn_go(c, STEP_CLOSE);
	if (c->input_len == 0)
		c->started_at = c->http->clock->ms;
	count_input(c, n);
	return conn_go(c, STEP_PARSE);
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
		return reply_error_close(c, c->request->parse.status);
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

/*
 * Discards the body bytes in the input.  The head is still needed: it moves up
 * behind them, which costs less than moving the bytes that follow.
 */
static enum chunked_result
discard_input(struct conn *c)
{
	size_t			head = c->request->parse.size, n;
	enum chunked_result	result;

	result = consume_body(c, c->input + head, c->input_len - head, &n);
	memmove(c->input + n, c->input, head);
	c->input += n;
	c->input_len -= n;
	return result;
}

/* Tells a client that holds its body back to send it. */
static void
write_continue(struct conn *c)
{
	static const char	line[] = "HTTP/1.1 100 Continue\r\n\r\n";

	output_write(conn_output(c), line, sizeof(line) - 1);
}

/* Waits for the rest of a body.  The first wait fixes the deadline. */
static enum go
wait_for_body(struct conn *c)
{
	struct request	*r = c->request;

	if (r->discard.expect_continue)
		write_continue(c);
	r->discard.expect_continue = false;
	if (conn_has_output(c))
		return conn_send(c, STEP_DISCARD);
	if (r->discard.deadline == 0)
		r->discard.deadline = c->http->clock->ms +
		    c->http->conf->limits.body_within;
	return wait_for_more(c, TIMEOUT_BODY, r->discard.deadline);
}

enum go
discard_step(struct conn *c)
{
	enum outcome	outcome = conn_outcome(c);
	ssize_t		n;

	if (outcome == OUTCOME_TIMED_OUT)
		return reply_error_close(c, reply_why(c, WHY_BODY_LATE));
	if (outcome != OUTCOME_READY)
		return conn_abort(c);
	if (c->input_len > c->request->parse.size)
		c->request->discard.expect_continue = false;	/* body comes */
	switch (discard_input(c)) {
	case CHUNKED_DONE:
		return conn_go(c, STEP_AUTHORIZE);
	case CHUNKED_REFUSED:
		return reply_error_close(c, c->request->discard.chunked.status);
	default:
		break;
	}
	if (!c->readable || c->http->bytes_in >= READ_QUOTA)
		return wait_for_body(c);
	n = read_input(c);
	if (n == 0)		/* the client has ended its output */
		return reply_error_close(c, reply_why(c, WHY_BODY_CUT));
	if (n > 0)
		count_input(c, n);
	else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
		return conn_abort(c);
	return GO_ON;
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

	if (c->transport->unacked == NULL || conf->limits.linger == 0)
		return false;
	c->unacked = c->transport->unacked(c->transport_context, c->wait.fd);
	return c->unacked > 0 && c->unacked + least < before;
}

enum go
linger_step(struct conn *c)
{
	struct http_loop	*http = c->http;
	enum outcome		 outcome = conn_outcome(c);
	ssize_t			 n;

	if (outcome == OUTCOME_TIMED_OUT && takes_response(c))
		c->started_at = http->clock->ms;
	else if (outcome != OUTCOME_READY)
		return conn_go(c, STEP_CLOSE);
	if (!c->readable || http->bytes_in >= READ_QUOTA)
		return conn_wait(c, WAIT_READ, TIMEOUT_LINGER,
		    c->started_at + http->conf->limits.linger);
	n = c->transport->recv(c->transport_context, c->wait.fd,
	    http->input + http->batch_offset,
	    sizeof(http->input) - http->batch_offset);
	if (n > 0)		/* dropped, and cleared */
		explicit_bzero(http->input + http->batch_offset, (size_t)n);
	c->readable = n > 0;	/* a reset may follow short input, too */
	http->bytes_in += n > 0 ? (size_t)n : 0;
	if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR))
		return conn_go(c, STEP_CLOSE);
	return GO_ON;
}
