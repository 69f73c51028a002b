/*
 * send: what is ready, to the client.
 */
#include <errno.h>
#include <string.h>

#include "http/body.h"
#include "http/conn.h"
#include "http/find.h"
#include "lib/log.h"

/* So much must go within limits.send; less is a client that holds on to us. */
#define PROGRESS	(64 * 1024)	/* bytes */

static enum go
wait_for_room(struct conn *c)
{
	const struct conf	*conf = c->http->conf;

	if (c->send_by == 0 || c->sent >= PROGRESS) {
		c->send_by = c->http->clock->ms + conf->limits.send;
		c->sent = 0;
	}
	return conn_wait(c, WAIT_WRITE, PATIENCE_SEND, c->send_by);
}

enum go
send_step(struct conn *c)
{
	int	error;

	if (conn_outcome(c) != OUTCOME_READY)
		return conn_abort(c);
	if (body_stale(c))
		return body_again(c);
	error = conn_flush(c);
	if (error == EAGAIN)
		return wait_for_room(c);
	c->send_by = 0;
	c->sent = 0;
	if (error == 0)
		return conn_go(c, c->then);
	/* The mapping ends before the response does: facts of mmap(2). */
	if (error == EFAULT) {
		log_info("a file has shrunk while it was being sent");
		find_expire(c);
	}
	return conn_abort(c);
}
