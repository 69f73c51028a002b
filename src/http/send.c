/*
 * send: sends the output to the client.
 */
#include <sys/uio.h>

#include <errno.h>
#include <string.h>

#include "http/body.h"
#include "http/conn.h"
#include "http/find.h"
#include "http/limits/order.h"
#include "http/limits/pace.h"
#include "http/limits/timeouts.h"
#include "http/park.h"
#include "lib/compiler.h"
#include "lib/log.h"
#include "stats/stats.h"

#define SPLICE_MAX		(64 * 1024)	/* bytes: a pipe of splice(2) */
#define PACE_PAUSE_MS		100

static NOINLINE void
count_shaped(struct conn *c, size_t n)
{
	pace_take(c, n);
	order_take(c, (int64_t)n);
}

static void
count_sent(struct conn *c, size_t n)
{
	stats_add(STATS_BYTES, (uint64_t)n);
	c->sent += (uint64_t)n;
	if (c->http->shaped)
		count_shaped(c, n);
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

/* Has a range of a file sent. */
static NOINLINE enum go
send_file_piece(struct conn *c, size_t most)
{
	struct piece	 p = output_file(conn_output(c), most);
	struct wait	*w = &c->wait;

	if (should_cork(c, p.len))
		c->corked = true;
	w->file = p.file;
	w->offset = p.offset;
	w->size = p.len;
	return conn_wait(c, WAIT_SEND, TIMEOUT_SEND, 0, WAIT_AT_ONCE |
	    (c->corked ? WAIT_CORK : 0));
}

/* Whether a file that may change is sent.  A piece of it was proved to be in
 * memory, and the file is compared with its version at the end. */
static inline bool
sends_live_file(const struct conn *c)
{
	return c->request != NULL && c->request->body.live;
}

/* Has pieces of memory sent.  The last packet may have to wait until the file's
 * version has been compared. */
static NOINLINE enum go
send_pieces(struct conn *c, size_t most)
{
	struct output	*o = conn_output(c);
	struct wait	*w = &c->wait;
	unsigned	 flags = sends_live_file(c) ? WAIT_AT_ONCE : 0;
	bool		 file;

	w->iov = c->workspace->iov;
	w->niov = output_gather(o, c->workspace->iov, MACHINE_IOV_MAX, most,
	    &file);
	w->size = 0;
	for (int i = 0; i < w->niov; i++)
		w->size += w->iov[i].iov_len;
	if (c->request != NULL && c->request->body.cork_end)
		c->corked = true;
	if (c->corked)
		flags |= WAIT_CORK;
	if (file || (w->size == o->bytes && w->size < most &&
	    ends_connection(c)))
		flags |= WAIT_MORE;
	return conn_wait(c, WAIT_WRITE, TIMEOUT_SEND, 0, flags);
}

/* Has the next pieces sent, at most so many bytes.  Nearly always there is one
 * piece, of memory that stays. */
static inline enum go
send_next(struct conn *c, size_t most)
{
	const struct output	*o = conn_output(c);
	const struct piece	*p = output_first(o);
	struct wait		*w = &c->wait;
	struct iovec		*iov = c->workspace->iov;

	if (p->at == NULL)
		return send_file_piece(c, most);
	if (o->n > 1 || p->len >= most || c->corked || sends_live_file(c))
		return send_pieces(c, most);
	iov->iov_base = (void *)(uintptr_t)p->at;
	iov->iov_len = w->size = p->len;
	w->iov = iov;
	w->niov = 1;
	return conn_wait(c, WAIT_WRITE, TIMEOUT_SEND, 0,
	    ends_connection(c) ? WAIT_MORE : 0);
}

/* Whether the connection has used its quota. */
static inline bool
quota_is_used(const struct conn *c)
{
	size_t	quota = c->after_send == STEP_BODY ? CONN_SEND_QUOTA / 4 * 3 :
		    3 * CONN_SEND_QUOTA;

	return c->used_out >= quota;
}

/* Pauses for the pace.  The pause has a fixed length, so that deadlines of this
 * timeout are in order. */
static COLD enum go
wait_for_pace(struct conn *c)
{
	body_unsend(c);
	return conn_wait(c, WAIT_TIME, TIMEOUT_PACE,
	    c->http->clock->ms + PACE_PAUSE_MS, 0);
}

void
send_park(struct conn *c)
{
	struct conf_timeout	timeout = timeouts_send(c);

	body_unsend(c);
	c->send_blocked = true;
	if (c->send_deadline == 0 || c->sent >= pace_min_progress(c)) {
		c->send_deadline = c->http->clock->ms + timeout.ms;
		c->sent = 0;
	}
	c->wait.deadline = c->send_deadline;
	c->wait.term = timeout.term;
	order_park(c);
}

static COLD enum go
abort_send(struct conn *c)
{
	order_unpark(c);
	return conn_abort(c);
}

/* Handles an error of the last operation. */
static COLD enum go
handle_send_error(struct conn *c, int error)
{
	order_unpark(c);
	if (c->wait.kind == WAIT_SEND && is_sendfile_error(error)) {
		file_set_no_sendfile(c->request->file);
		body_unsend(c);
		return GO_ON;
	}
	/* EFAULT: the mapping ends before the response does (mmap(2)). */
	if (error != EFAULT && error != ESTALE)
		return conn_abort(c);
	log_info("closing a connection: its file has changed while it "
	    "was being sent");
	find_expire(c);
	return error == ESTALE ? conn_reset(c) : conn_abort(c);
}

/* Takes the result of the last operation: 0, or an errno. */
static inline int
take_result(struct conn *c)
{
	const struct wait	*w = &c->wait;

	if (w->n == -1)
		return w->error;
	if (w->n == 0)			/* as a mapping reports it */
		return EFAULT;
	output_advance(conn_output(c), (size_t)w->n);
	count_sent(c, (size_t)w->n);
	c->used_out += (size_t)w->n;
	return 0;
}

/* All output is sent: goes on, in the next turn if the quota is used. */
static inline enum go
end_send(struct conn *c)
{
	/* At the end of a connection the shutdown pushes the last bytes, in
	 * the same packet. */
	if (c->after_send != STEP_BODY)
		c->corked = false;
	if (quota_is_used(c)) {
		c->used_out = 0;
		return conn_wait(c, WAIT_WRITE, TIMEOUT_SEND, 0, WAIT_LATER |
		    (c->wait.flags & WAIT_LARGE) |
		    (c->corked ? WAIT_CORK : 0));
	}
	if (conn_owns_output(c))	/* the workspace's serves again */
		conn_clear_output(c);
	c->send_deadline = 0;
	c->sent = 0;
	/* The time during which the connection only sent does not count for the
	 * next head. */
	if (c->after_send == STEP_RECV || c->after_send == STEP_PARSE)
		c->started_at = c->http->clock->ms;
	return conn_go(c, c->after_send);
}

/* As send_next(), at a pace and in the order by size. */
static NOINLINE enum go
send_shaped(struct conn *c)
{
	size_t	left = pace_allowance(c);

	order_unpark(c);
	if (left == 0)
		return wait_for_pace(c);
	if (!conn_has_output(c))
		return end_send(c);
	send_next(c, left);
	c->wait.flags |= (uint8_t)order_flag(c);
	return GO_WAIT;
}

enum go
send_step(struct conn *c)
{
	enum outcome	outcome = conn_outcome(c);
	int		error = outcome == OUTCOME_READY ? take_result(c) : 0;

	if (is_failure(outcome))
		return abort_send(c);
	if (error == 0 && !conn_has_output(c) && c->after_send == STEP_FINISH &&
	    sends_live_file(c) && !body_was_current(c))
		error = ESTALE;
	if (error != 0)
		return handle_send_error(c, error);
	if (c->http->shaped)
		return send_shaped(c);
	return conn_has_output(c) ? send_next(c, CONN_SEND_MAX) : end_send(c);
}
