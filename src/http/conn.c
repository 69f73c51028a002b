/*
 * conn: what all steps share: the gate between steps, waits, and what a
 * connection keeps while it waits.
 */
#include <sys/param.h>
#include <sys/uio.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "http/conn.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "stats.h"

#define GATHER		32		/* pieces a write */
#define JOIN		(16 * 1024)	/* bytes, see give() */
#define TURN_ENOUGH	(CONN_TURN / 4 * 3)

enum go
conn_go(struct conn *c, enum step step)
{
	c->step = (uint8_t)step;
	return GO_ON;
}

enum go
conn_send(struct conn *c, enum step then)
{
	/* Sending frees the scratch that a head not yet put out may be in. */
	if (c->request != NULL)
		output_own(&c->request->head);
	c->then = (uint8_t)then;
	return conn_go(c, STEP_SEND);
}

enum go
conn_abort(struct conn *c)
{
	stats[STATS_ABORTED]++;
	if (c->request != NULL && c->request->answered) {
		c->request->body -= (int64_t)conn_output(c)->bytes;
		if (c->request->body < 0)	/* not even all of the head */
			c->request->body = 0;
	}
	output_drop(conn_output(c));
	c->close = true;
	c->linger = false;
	c->input_len = 0;		/* nor is what is left of interest */
	return conn_go(c, c->request != NULL ? STEP_FINISH : STEP_CLOSE);
}

enum go
conn_wait(struct conn *c, enum wait_kind kind, enum patience patience,
    int64_t deadline)
{
	c->wait.kind = kind;
	c->wait.patience = patience;
	c->wait.deadline = deadline;
	c->wait.errand = NULL;
	return GO_WAIT;
}

enum go
conn_wait_disk(struct conn *c, struct errand *errand)
{
	const struct conf	*conf = c->http->conf;

	/* Answers to earlier requests need not wait with this one. */
	if (conn_pending(c))
		return conn_send(c, c->step);
	if (c->request->disk_by == 0)
		c->request->disk_by = c->http->clock->ms + conf->limits.disk;
	conn_wait(c, WAIT_DISK, PATIENCE_DISK, c->request->disk_by);
	c->wait.errand = errand;
	return GO_WAIT;
}

enum outcome
conn_outcome(struct conn *c)
{
	enum outcome	outcome = c->outcome;

	c->outcome = OUTCOME_READY;
	return outcome;
}

struct output *
conn_output(struct conn *c)
{
	return c->output != NULL ? c->output : &c->http->output;
}

bool
conn_pending(const struct conn *c)
{
	return (c->output != NULL ? c->output : &c->http->output)->n > 0;
}

size_t
conn_allowance(struct conn *c)
{
	struct http	*http = c->http;

	if (http->pace.rate == 0 || c->transport->trusted)
		return CONN_TURN;
	return (size_t)MIN(CONN_TURN, bucket_holds(&c->peer->pace, &http->pace,
	    http->clock->ms));
}

static void
count_sent(struct conn *c, size_t n)
{
	stats[STATS_BYTES] += (uint64_t)n;
	c->sent += (uint64_t)n;
	if (c->http->pace.rate != 0)
		bucket_take(&c->peer->pace, (int64_t)n);
}

/* Not the client's doing: the file's system cannot, or we may not (seccomp).
 * All of it is taken back then, and comes as memory. */
static bool
must_be_memory(int error)
{
	return error == EINVAL || error == ENOSYS || error == EPERM ||
	    error == EOPNOTSUPP;
}

static ssize_t
give_file(struct conn *c, const struct piece *p)
{
	ssize_t	sent = c->transport->send_file(c->transport_context,
		    c->wait.fd, p->file, p->offset, p->len);

	if (sent == 0) {		/* as from a mapping */
		errno = EFAULT;
		return -1;
	}
	if (sent == -1 && must_be_memory(errno)) {
		c->request->file->no_sendfile = true;
		errno = EAGAIN;
	}
	return sent;
}

/*
 * The connection ends right behind what is in the output: so the end may go in
 * the same packet, which saves a third of what a connection costs.  Until then
 * it may stay with the system, and to close over unread input would destroy it
 * there: so only if the client has said that it asks no more, or if we are to
 * linger, which closes nothing before that has been read.
 */
static bool
ends(const struct conn *c)
{
	return c->close && c->then == STEP_FINISH && (c->last || c->linger);
}

/* The next pieces, at most so many bytes, in one call; it asked for so many. */
static ssize_t
give(struct conn *c, size_t most, size_t *asked)
{
	struct output	*o = conn_output(c);
	struct iovec	 iov[GATHER];
	struct piece	 file;
	char		 joined[JOIN];
	bool		 more = false;
	int		 n = 1;

	if (output_file(o, most, &file)) {
		*asked = file.len;
		return give_file(c, &file);
	}
	/* To copy a head and a small body costs less than the system takes for
	 * another entry of iov; one of two buffers would cost memory. */
	iov[0].iov_base = joined;
	iov[0].iov_len = o->bytes <= most ? output_join(o, joined, JOIN) : 0;
	if (iov[0].iov_len == 0)
		n = output_gather(o, iov, GATHER, most, &more);
	*asked = 0;
	for (int i = 0; i < n; i++)
		*asked += iov[i].iov_len;
	/* Not if it has to wait behind that: for its pace. */
	if (*asked == o->bytes && *asked < most && ends(c))
		more = true;
	return c->transport->send(c->transport_context, c->wait.fd, iov, n,
	    more);
}

int
conn_flush(struct conn *c)
{
	struct output	*o = conn_output(c);
	size_t		 left = conn_allowance(c), asked;
	ssize_t		 sent;

	while (o->n > 0 && left > 0) {
		sent = give(c, left, &asked);
		if (sent == -1 && errno == EINTR)
			continue;
		if (sent == -1)
			return errno == EWOULDBLOCK ? EAGAIN : errno;
		output_sent(o, (size_t)sent);
		count_sent(c, (size_t)sent);
		left -= (size_t)sent;
		c->http->given += (size_t)sent;
		if ((size_t)sent < asked)	/* it would only say EAGAIN */
			return EAGAIN;
	}
	/* A turn's worth has gone: the others first. */
	return o->n > 0 || left == 0 || c->http->given >= TURN_ENOUGH ?
	    EAGAIN : 0;
}

void
conn_park(struct conn *c)
{
	struct http	*http = c->http;

	if (c->request != NULL)		/* scratch is the next one's */
		output_own(&c->request->head);
	if (c->output != NULL && c->output->n == 0)
		mem_drop(&c->output);
	if (http->output.n > 0)
		c->output = output_keep(&http->output);
	if (c->input_len == 0) {
		buf_free(&c->kept);
		c->input = NULL;
	} else if (c->input >= http->input &&
	    c->input < http->input + sizeof(http->input)) {
		need(c->kept.len == 0);
		buf_add(&c->kept, c->input, c->input_len);
		c->input = c->kept.at;
	}
}

void
conn_begin(struct peer *p)
{
	struct http	*http = p->http;
	struct conn	*c = http->spare_conn;

	if (c != NULL)
		http->spare_conn = NULL;
	else
		c = mem_get(sizeof(*c));
	memset(c, 0, sizeof(*c));
	c->http = http;
	c->peer = p;
	c->transport = p->transport;
	c->transport_context = p->transport_context;
	c->wait.fd = p->fd;
	c->wait.kind = WAIT_READ;
	c->outcome = OUTCOME_READY;
	c->step = STEP_RECV;
	p->conn = c;
}

void
conn_end(struct peer *p)
{
	struct http	*http = p->http;
	struct conn	*c = p->conn;

	need(c->request == NULL && c->output == NULL && c->kept.at == NULL);
	p->conn = NULL;
	if (http->spare_conn == NULL)
		http->spare_conn = c;
	else
		free(c);
}

void
conn_request_begin(struct conn *c)
{
	struct http	*http = c->http;
	struct request	*r = http->spare;

	if (r != NULL)
		http->spare = NULL;
	else
		r = mem_get(sizeof(*r));
	parse_init(&r->parse);
	/* All the rest; what parse_init leaves alone may be large. */
	memset((char *)r + sizeof(r->parse), 0, sizeof(*r) - sizeof(r->parse));
	c->request = r;
}

void
conn_request_reset(struct conn *c)
{
	struct request	*r = c->request;

	if (r->chunk != NULL)
		chunk_release(&c->http->chunks, &r->chunk);
	if (r->head.release != NULL)
		r->head.release(r->head.owner, r->head.what);
	memset(&r->head, 0, sizeof(r->head));
	if (r->parts != NULL)
		parts_free(&r->parts);
	if (r->file_open)
		file_release(r->file);
	r->file_open = false;
	if (r->file != NULL)
		file_drop(&r->file);
}

void
conn_request_end(struct conn *c)
{
	struct request	*r = c->request;

	if (r == NULL)
		return;
	conn_request_reset(c);
	if (r->path != NULL)
		pathname_release(&c->http->paths, &r->path);
	if (r->grant != NULL)
		grant_release(&r->grant);
	if (c->http->spare == NULL)
		c->http->spare = r;
	else
		free(r);
	c->request = NULL;
}
