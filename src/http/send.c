/*
 * send: sends the output to the client.
 */
#include <sys/uio.h>

#include <errno.h>
#include <string.h>

#include "http/body.h"
#include "http/conn.h"
#include "http/find.h"
#include "http/limits/pace.h"
#include "lib/compiler.h"
#include "lib/log.h"
#include "stats/stats.h"

#define IOV_MAX_PIECES		32		/* pieces of a write */
#define SPLICE_MAX		(64 * 1024)	/* bytes: a pipe of splice(2) */
#define PACE_PAUSE_MS		100

static void
count_sent(struct conn *c, size_t n)
{
	stats_add(STATS_BYTES, (uint64_t)n);
	c->sent += (uint64_t)n;
	pace_take(c, n);
}

/* Whether sendfile(2) does not work for this file (its file system cannot, or
 * seccomp forbids it).  The file's pieces are then taken back and sent from
 * memory. */
static bool
is_sendfile_error(int error)
{
	return error == EINVAL || error == ENOSYS || error == EPERM ||
	    error == EOPNOTSUPP;
}

/* Whether the connection ends right behind the output.  The FIN may then go in
 * the last packet, which saves a third of the packets of a short connection. */
static bool
ends_connection(const struct conn *c)
{
	return c->close && c->after_send == STEP_FINISH;
}

/* Whether to cork before a file is sent.  Linux takes 64 KB of a file at a
 * time, and their last packet is not full.  The next 64 KB fill it, unless an
 * acknowledgement comes between and sends it.  Corked, 500 KB take 9 packets,
 * not 11 or 12.  A file that goes in one call with nothing behind it is not
 * corked: that would be two more system calls. */
static bool
should_cork(const struct conn *c, size_t len)
{
	return len > SPLICE_MAX || conn_output(c)->bytes > len ||
	    c->after_send == STEP_BODY || ends_connection(c);
}

/* Corks for a last packet that must wait until the file's version has been
 * compared. */
static void
cork_last_packet(struct conn *c)
{
	if (c->request != NULL && c->request->body.cork_end && !c->corked &&
	    c->transport->cork != NULL)
		conn_set_cork(c, true);
}

static NOINLINE ssize_t
send_file_piece(struct conn *c, size_t most, size_t *asked)
{
	struct piece	p = output_file(conn_output(c), most);
	ssize_t		sent;

	if (!c->corked && should_cork(c, p.len))
		conn_set_cork(c, true);
	sent = c->transport->send_file(c->transport_context, c->wait.fd,
	    p.file, p.offset, p.len);
	*asked = p.len;
	if (sent == 0) {		/* as a mapping reports it */
		errno = EFAULT;
		return -1;
	}
	if (sent == -1 && is_sendfile_error(errno)) {
		file_set_no_sendfile(c->request->file);
		errno = EAGAIN;
	}
	return sent;
}

/* Sends pieces of memory. all: the pieces are all of the output, and none waits
 * for the pace. */
static inline ssize_t
send_iov(struct conn *c, const struct iovec *iov, int n, bool more, bool all)
{
	return c->transport->send(c->transport_context, c->wait.fd, iov, n,
	    more || (all && ends_connection(c)));
}

static NOINLINE ssize_t
send_pieces(struct conn *c, size_t most, size_t *asked)
{
	struct output	*o = conn_output(c);
	struct iovec	 iov[IOV_MAX_PIECES];
	bool		 more;
	int		 n = output_gather(o, iov, IOV_MAX_PIECES, most, &more);

	cork_last_packet(c);
	*asked = 0;
	for (int i = 0; i < n; i++)
		*asked += iov[i].iov_len;
	return send_iov(c, iov, n, more, *asked == o->bytes && *asked < most);
}

/* Takes the result of the call that a batch has made. */
static inline ssize_t
take_batch_result(struct conn *c, size_t *asked)
{
	const struct io_op	*op = c->op;

	c->op = NULL;
	*asked = op->len;
	if (op->result == -1)
		errno = op->error;
	return op->result;
}

/* Sends the next pieces, at most so many bytes, in one call; *asked: the bytes
 * of the call.  Nearly always there is one piece, and the function is then
 * inlined, so that no return address of it is on the stack below the system
 * call. */
static inline ssize_t
send_next(struct conn *c, size_t most, size_t *asked)
{
	const struct output	*o = conn_output(c);
	const struct piece	*p = output_first(o);
	struct iovec		 iov = { (void *)(uintptr_t)p->at, p->len };

	if (c->op != NULL)
		return take_batch_result(c, asked);
	if (p->at == NULL)
		return send_file_piece(c, most, asked);
	if (o->n > 1 || p->len >= most)
		return send_pieces(c, most, asked);
	*asked = p->len;
	return send_iov(c, &iov, 1, false, true);
}

/* Uncorks unless the body goes on.  At the end of a connection the shutdown
 * pushes the last bytes, in the same packet. */
static NOINLINE void
uncork_at_end(struct conn *c)
{
	if (c->after_send != STEP_BODY && !ends_connection(c))
		conn_set_cork(c, false);
}

/* Whether the connection has used its quota of this iteration. */
static inline bool
quota_is_used(const struct conn *c)
{
	size_t	quota = c->after_send == STEP_BODY ? CONN_SEND_QUOTA / 4 * 3 :
		    CONN_SEND_MAX;

	return c->http->bytes_out >= quota;
}

static inline bool
sends_live_file(const struct conn *c)
{
	return c->request != NULL && c->request->body.live;
}

/* Sends the output: 0 when all is sent, EAGAIN when some is left, else an errno
 * that ends the connection. */
static int
flush_output(struct conn *c)
{
	struct output	*o = conn_output(c);
	size_t		 left = pace_allowance(c), asked;
	ssize_t		 sent;

	while (o->n > 0 && left > 0) {
		sent = send_next(c, left, &asked);
		if (sent == -1 && errno == EINTR)
			continue;
		if (sent == -1)
			return errno == EWOULDBLOCK ? EAGAIN : errno;
		output_advance(o, (size_t)sent);
		count_sent(c, (size_t)sent);
		left -= (size_t)sent;
		c->http->bytes_out += (size_t)sent;
		if ((size_t)sent < asked)	/* next: EAGAIN */
			return EAGAIN;
	}
	if (o->n == 0 && c->after_send == STEP_FINISH && sends_live_file(c) &&
	    !body_was_current(c))
		return ESTALE;
	if (c->corked && o->n == 0)
		uncork_at_end(c);
	return o->n > 0 || left == 0 || quota_is_used(c) ? EAGAIN : 0;
}

static COLD enum go
wait_for_writable(struct conn *c)
{
	const struct conf	*conf = c->http->conf;

	c->send_blocked = true;
	if (c->send_deadline == 0 || c->sent >= pace_min_progress(c)) {
		c->send_deadline = c->http->clock->ms + conf->limits.send;
		c->sent = 0;
	}
	return conn_wait(c, WAIT_WRITE, TIMEOUT_SEND, c->send_deadline);
}

/* Pauses for the pace.  The pause has a fixed length, so that deadlines of this
 * timeout are in order. */
static COLD enum go
wait_for_pace(struct conn *c)
{
	return conn_wait(c, WAIT_TIME, TIMEOUT_PACE,
	    c->http->clock->ms + PACE_PAUSE_MS);
}

/* Handles output that could not all be sent. */
static NOINLINE enum go
handle_unsent(struct conn *c, int error)
{
	if (error == EAGAIN) {
		body_unsend(c);
		return pace_allowance(c) == 0 ? wait_for_pace(c) :
		    wait_for_writable(c);
	}
	/* EFAULT: the mapping ends before the response does (mmap(2)). */
	if (error != EFAULT && error != ESTALE)
		return conn_abort(c);
	log_info("closing a connection: its file has changed while it "
	    "was being sent");
	find_expire(c);
	return error == ESTALE ? conn_reset(c) : conn_abort(c);
}

enum go
send_step(struct conn *c)
{
	int	error;

	if (conn_outcome(c) != OUTCOME_READY)
		return conn_abort(c);
	error = flush_output(c);
	if (error != 0)
		return handle_unsent(c, error);
	if (conn_owns_output(c))	/* all sent: the loop's serves again */
		conn_clear_output(c);
	c->send_deadline = 0;
	c->sent = 0;
	/* The time during which the connection only sent does not count for the
	 * next head. */
	if (c->after_send == STEP_RECV || c->after_send == STEP_PARSE)
		c->started_at = c->http->clock->ms;
	return conn_go(c, c->after_send);
}
