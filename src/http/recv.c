/*
 * recv: the steps that take in a request: recv, parse; and those that take in
 * what nobody wants: discard, a body; linger, what comes after the end.
 */
#include <sys/param.h>

#include <errno.h>
#include <string.h>

#include "http/conn.h"
#include "http/limits/pace.h"
#include "http/reply.h"
#include "lib/compiler.h"
#include "stats/stats.h"

#define OWN_READ_SIZE	4096	/* bytes a recv, behind kept input */
/* Bytes of bodies that are thrown away before it is others' turn; it costs them
 * less than a millisecond. */
#define READ_QUOTA	(2 * 1024 * 1024)
#define DRAIN_TIMEOUT_MS		2000	/* ms that a drain leaves for a last request */

/*
 * Behind what is kept.  There may be a password in that: where it is moved,
 * nothing is left behind.
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

/* Into the loop's buffer, behind those of who run together. */
static struct io_op *
read_shared(struct conn *c, struct io_op *op)
{
	struct http_loop	*http = c->http;

	op->at = http->input + http->batch_offset;
	op->len = sizeof(http->input) - http->batch_offset;
	op->result = c->transport->recv(
	    c->transport_context, c->wait.fd, op->at, op->len);
	if (op->result == -1)
		op->error = errno;
	return op;
}

/* Bytes of the client's into the loop's buffer, or behind what is kept.  Where
 * there was room for no more, there may be: who is told of what comes, but not
 * of what is there, would wait for ever. */
static ssize_t
read_input(struct conn *c)
{
	struct io_op	*op = c->op, own;
	ssize_t		 n;

	/* In one turn they may come to both. */
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

/* The next bytes of something that must be complete at some time.  That the
 * client has reset the connection may have been told with the last ones, and
 * they end before an urgent byte: so it is to be told again. */
static COLD enum go
wait_for_more(struct conn *c, enum timeout timeout, int64_t complete)
{
	int64_t	next = c->http->clock->ms + c->http->conf->limits.gap;

	c->readable = true;
	return next < complete ?
	    conn_wait(c, WAIT_READ, TIMEOUT_READ, next) :
	    conn_wait(c, WAIT_READ, timeout, complete);
}

/* The head counts from its first byte, so that dripping does not help. */
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
	return wait_for_more(
	    c, TIMEOUT_HEAD, c->started_at + conf->limits.head);
}

/* Draining: one that was told that it stays is heard once more, and then closed
 * so that a request which is on its way is no reset. */
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
	ssize_t		 n;

	if (outcome != OUTCOME_READY)
		return handle_no_input(c, outcome);
	if (c->refused)		/* whatever it is that it wants */
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

/* What of these bytes, the next ones behind the head, is body. */
static enum chunked_result
consume_body(struct conn *c, const char *bytes, size_t len, size_t *used)
{
	struct request	*r = c->request;

	if (r->parse.chunked)
		return chunked_feed(
		    &r->chunked, &c->http->chunked_limits, bytes, len, used);
	*used = (size_t)MIN((int64_t)len, r->body_left);
	r->body_left -= (int64_t)*used;
	return r->body_left == 0 ? CHUNKED_DONE : CHUNKED_MORE;
}

/*
 * Throws away what has come of the body.  The head is still wanted: it moves
 * up to what is behind the body, which costs less than moving that.
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

/* The body is welcome: for who holds it back until it hears that. */
static void
write_continue(struct conn *c)
{
	static const char	line[] = "HTTP/1.1 100 Continue\r\n\r\n";

	output_write(conn_output(c), line, sizeof(line) - 1);
}

/* Dripping does not help here either. */
static enum go
wait_for_body(struct conn *c)
{
	struct request	*r = c->request;

	if (r->expect_continue)
		write_continue(c);
	r->expect_continue = false;
	if (conn_has_output(c))
		return conn_send(c, STEP_DISCARD);
	if (r->body_deadline == 0)
		r->body_deadline = c->http->clock->ms +
		    c->http->conf->limits.body_within;
	return wait_for_more(c, TIMEOUT_BODY, r->body_deadline);
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
		c->request->expect_continue = false;	/* it is on its way */
	switch (discard_input(c)) {
	case CHUNKED_DONE:
		return conn_go(c, STEP_AUTHORIZE);
	case CHUNKED_REFUSED:
		return reply_error_close(c, c->request->chunked.status);
	default:
		break;
	}
	if (!c->readable || c->http->bytes_in >= READ_QUOTA)
		return wait_for_body(c);
	n = read_input(c);
	if (n == 0)		/* half a request, and no more to come */
		return reply_error_close(c, reply_why(c, WHY_BODY_CUT));
	if (n > 0)
		count_input(c, n);
	else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
		return conn_abort(c);
	return GO_ON;
}

/* Whether the client still takes the response, as fast as a wait for room asks
 * it to: then the end of the wait is not the end of the connection. */
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
	enum outcome	 outcome = conn_outcome(c);
	ssize_t		 n;

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
	if (n > 0)		/* what it was does not matter */
		explicit_bzero(http->input + http->batch_offset, (size_t)n);
	c->readable = n > 0;	/* behind what is short, a reset, too */
	http->bytes_in += n > 0 ? (size_t)n : 0;
	if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR))
		return conn_go(c, STEP_CLOSE);
	return GO_ON;
}
