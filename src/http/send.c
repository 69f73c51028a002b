/*
 * send: what is ready, to the client.
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

#define IOV_MAX_PIECES		32		/* pieces a write */
#define SPLICE_MAX		(64 * 1024)	/* bytes of a file: splice(2)'s pipe */
#define PACE_PAUSE_MS		100		/* ms */

static void
count_sent(struct conn *c, size_t n)
{
	stats_add(STATS_BYTES, (uint64_t)n);
	c->sent += (uint64_t)n;
	pace_take(c, n);
}

/* Not the client's doing: the file's system cannot, or we may not (seccomp).
 * All of it is taken back then, and comes as memory. */
static bool
is_sendfile_error(int error)
{
	return error == EINVAL || error == ENOSYS || error == EPERM ||
	    error == EOPNOTSUPP;
}

/* The connection ends right behind what is in the output: so the end may go in
 * the same packet, which saves a third of what a connection costs. */
static bool
ends_connection(const struct conn *c)
{
	return c->close && c->after_send == STEP_FINISH;
}

/* Linux takes 64 KB of a file at a time, whose rest fills no packet: the next
 * 64 KB fill it, unless the client confirms something in between, which sends
 * it.  So corked, 500 KB take 9 packets, not 11 or 12.  What goes at once and
 * has nothing behind it needs no cork, which is two system calls. */
static bool
should_cork(const struct conn *c, size_t len)
{
	return len > SPLICE_MAX || conn_output(c)->bytes > len ||
	    c->after_send == STEP_BODY || ends_connection(c);
}

/* A last packet that is to wait for the end does so in a corked socket. */
static void
cork_last_packet(struct conn *c)
{
	if (c->request != NULL && c->request->cork_end && !c->corked &&
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
	if (sent == 0) {		/* as from a mapping */
		errno = EFAULT;
		return -1;
	}
	if (sent == -1 && is_sendfile_error(errno)) {
		file_set_no_sendfile(c->request->file);
		errno = EAGAIN;
	}
	return sent;
}

/* That may be all; but not if something has to wait behind it, for its pace. */
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

/* It has gone together with others'. */
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

/* The next pieces, at most so many bytes, in one call; it asked for so many.
 * Nearly always it is one, and then this is no function of its own to come back
 * to from the system. */
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

/* Unless there is more to come.  The end of a connection pushes what is left as
 * well, in the same packet. */
static NOINLINE void
uncork_at_end(struct conn *c)
{
	if (c->after_send != STEP_BODY && !ends_connection(c))
		conn_set_cork(c, false);
}

/* A turn's worth has gone: the others first. */
static inline bool
quota_is_used(const struct conn *c)
{
	return c->http->bytes_out >= (c->after_send == STEP_BODY
					     ? CONN_SEND_QUOTA / 4 * 3
					     : CONN_SEND_MAX);
}

static inline bool
sends_live_file(const struct conn *c)
{
	return c->request != NULL && c->request->live;
}

/* Sends what it can: 0, EAGAIN with some left, or the errno of the end. */
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
		if ((size_t)sent < asked)	/* it would only say EAGAIN */
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

/* Always as long, so that deadlines of this timeout come in order. */
static COLD enum go
wait_for_pace(struct conn *c)
{
	return conn_wait(c, WAIT_TIME, TIMEOUT_PACE,
	    c->http->clock->ms + PACE_PAUSE_MS);
}

/* Not all has gone. */
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
	log_info("a file has changed while it was being sent");
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
	if (conn_owns_output(c))	/* empty: the loop's serves again */
		conn_clear_output(c);
	c->send_deadline = 0;
	c->sent = 0;
	/* For a head that has begun nobody has listened meanwhile. */
	if (c->after_send == STEP_RECV || c->after_send == STEP_PARSE)
		c->started_at = c->http->clock->ms;
	return conn_go(c, c->after_send);
}
