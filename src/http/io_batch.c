/*
 * io_batch: notes system calls and makes them.
 */
#include <sys/uio.h>

#include <errno.h>

#include "http/conn.h"
#include "http/io_batch.h"
#include "http/limits/pace.h"

#define RECV_SIZE_MIN	4096	/* bytes of room for a recv */

static struct io_op *
add_op(struct io_batch *batch, const struct conn *c)
{
	struct io_op	*op = &batch->ops[batch->n++];

	op->transport = c->transport;
	op->context = c->transport_context;
	op->fd = c->wait.fd;
	return op;
}

/* The batch uses half of the buffer: connections that run after it need room as
 * well. */
void
io_batch_recv(struct io_batch *batch, struct conn *const *conns, unsigned n)
{
	struct http_loop	*http = conns[0]->http;
	struct io_op		*op;
	size_t			 left = sizeof(http->input) / 2;
	unsigned		 made = 0;

	batch->n = 0;
	for (unsigned i = 0; i < n; i++)
		add_op(batch, conns[i]);
	for (op = batch->ops; made < n && left >= RECV_SIZE_MIN; made++, op++) {
		op->at = http->input + http->batch_offset;
		op->len = left;
		op->result = op->transport->recv(op->context, op->fd, op->at,
		    left);
		if (op->result == -1)
			op->error = errno;
		if (op->result <= 0)
			continue;
		http->batch_offset += (size_t)op->result;
		left -= (size_t)op->result;
	}
	for (unsigned i = 0; i < made; i++)
		conns[i]->op = &batch->ops[i];
}

/* Whether the output is a single piece of memory that neither ends the
 * connection nor waits for its pace. */
static bool
can_batch_send(struct conn *c)
{
	const struct output	*o = conn_output(c);
	const struct piece	*p = output_first(o);

	return c->go == GO_ON && c->step == STEP_SEND && o->n == 1 &&
	    p->at != NULL && !c->close && p->len < pace_allowance(c);
}

void
io_batch_send(struct io_batch *batch, struct conn *const *conns, unsigned n)
{
	const struct piece	*p;
	struct iovec		 iov;
	struct io_op		*op;

	batch->n = 0;
	for (unsigned i = 0; i < n; i++) {
		if (!can_batch_send(conns[i]))
			continue;
		p = output_first(conn_output(conns[i]));
		op = add_op(batch, conns[i]);
		op->at = (char *)(uintptr_t)p->at;
		op->len = p->len;
		conns[i]->op = op;
	}
	for (op = batch->ops; op < batch->ops + batch->n; op++) {
		iov.iov_base = op->at;
		iov.iov_len = op->len;
		op->result = op->transport->send(op->context, op->fd, &iov, 1,
		    false);
		if (op->result == -1)
			op->error = errno;
	}
}
