/*
 * send: what is ready, to the client.
 */
#include <errno.h>
#include <string.h>

#include "http/body.h"
#include "http/conn.h"
#include "http/find.h"
#include "lib/log.h"

#define PROGRESS	(64 * 1024)	/* bytes */
#define PAUSE		100		/* ms */

/* So much must go within limits.send; less is a client that holds on to us.
 * Of what it is given at that pace, one must take half at least. */
static uint64_t
progress(const struct conn *c)
{
	int64_t	half = c->http->pace.rate * c->http->conf->limits.send / 2000;

	if (c->http->pace.rate == 0 || half >= PROGRESS)
		return PROGRESS;
	return (uint64_t)half + 1;
}

static enum go
wait_for_room(struct conn *c)
{
	const struct conf	*conf = c->http->conf;

	if (c->send_by == 0 || c->sent >= progress(c)) {
		c->send_by = c->http->clock->ms + conf->limits.send;
		c->sent = 0;
	}
	return conn_wait(c, WAIT_WRITE, PATIENCE_SEND, c->send_by);
}

/* Always as long, so that deadlines of this patience come in order. */
static enum go
wait_for_leave(struct conn *c)
{
	return conn_wait(c, WAIT_TIME, PATIENCE_PACE,
	    c->http->clock->ms + PAUSE);
}

enum go
send_step(struct conn *c)
{
	int	error;

	if (conn_outcome(c) != OUTCOME_READY)
		return conn_abort(c);
	error = conn_flush(c);
	if (error == EAGAIN) {
		body_take_back(c);
		return conn_allowance(c) == 0 ? wait_for_leave(c) :
		    wait_for_room(c);
	}
	c->send_by = 0;
	c->sent = 0;
	if (error == 0)
		return conn_go(c, c->then);
	/* The mapping ends before the response does: facts of mmap(2). */
	if (error == EFAULT) {
		log_info("a file has changed while it was being sent");
		find_expire(c);
	}
	return conn_abort(c);
}
