/*
 * io_batch: notes calls, and makes them.
 */
#include <sys/uio.h>

#include <errno.h>

#include "http/conn.h"
#include "http/io_batch.h"
#include "http/limits/pace.h"

#define LEAST	4096	/* bytes of room, for a recv */

static struct call *
note(struct burst *burst, const struct conn *c)
{
	struct call	*k = &burst->of[burst->n++];

	k->transport = c->transport;
	k->context = c->transport_context;
	k->fd = c->wait.fd;
	return k;
}

/* Half of the buffer is theirs: who comes behind them finds room as well. */
void
burst_receive(struct burst *burst, struct conn *const *conns, unsigned n)
{
	struct http_loop	*http = conns[0]->http;
	struct call	*k;
	size_t		 left = sizeof(http->input) / 2;
	unsigned	 made = 0;

	burst->n = 0;
	for (unsigned i = 0; i < n; i++)
		note(burst, conns[i]);
	for (k = burst->of; made < n && left >= LEAST; made++, k++) {
		k->at = http->input + http->batch_offset;
		k->len = left;
		k->n = k->transport->recv(k->context, k->fd, k->at, left);
		if (k->n == -1)
			k->error = errno;
		if (k->n <= 0)
			continue;
		http->batch_offset += (size_t)k->n;
		left -= (size_t)k->n;
	}
	for (unsigned i = 0; i < made; i++)
		conns[i]->call = &burst->of[i];
}

/* One that does not end with it, and need not wait for its pace. */
static bool
is_simple(struct conn *c)
{
	const struct output	*o = conn_output(c);
	const struct piece	*p = output_first(o);

	return c->go == GO_ON && c->step == STEP_SEND && o->n == 1 &&
	    p->at != NULL && !c->close && p->len < pace_allowance(c);
}

void
burst_send(struct burst *burst, struct conn *const *conns, unsigned n)
{
	const struct piece	*p;
	struct iovec		 iov;
	struct call		*k;

	burst->n = 0;
	for (unsigned i = 0; i < n; i++) {
		if (!is_simple(conns[i]))
			continue;
		p = output_first(conn_output(conns[i]));
		k = note(burst, conns[i]);
		k->at = (char *)(uintptr_t)p->at;
		k->len = p->len;
		conns[i]->call = k;
	}
	for (k = burst->of; k < burst->of + burst->n; k++) {
		iov.iov_base = k->at;
		iov.iov_len = k->len;
		k->n = k->transport->send(k->context, k->fd, &iov, 1, false);
		if (k->n == -1)
			k->error = errno;
	}
}
