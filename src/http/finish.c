/*
 * finish: the end of an exchange and of a connection.
 */
#include <string.h>

#include "http/conn.h"
#include "http/limits/timeouts.h"
#include "http/log/log_line.h"
#include "http/park.h"
#include "lib/need.h"
#include "stats/stats.h"

/* Bytes: the system may still hold some of a larger body when all of it has
 * been sent. */
#define SOCKET_BUFFER_MIN	(64 * 1024)

static void
count_request(const struct request *r)
{
	static const enum stats_counter	classes[] = {
		[2] = STATS_STATUS_2XX, [3] = STATS_STATUS_3XX,
		[4] = STATS_STATUS_4XX, [5] = STATS_STATUS_5XX
	};
	unsigned			class = r->response.status / 100;

	stats_count(STATS_REQUESTS);
	stats_count(r->parse.method == METHOD_GET ? STATS_METHOD_GET :
	    r->parse.method == METHOD_HEAD ? STATS_METHOD_HEAD :
	    STATS_METHOD_OTHER);
	if (class >= 2 && class <= 5)
		stats_count(classes[class]);
}

/* Counts and logs the request, unless it ended before it had a status. */
static void
log_request(struct conn *c)
{
	const struct client_kind	*kind = c->session->kind;

	if (c->request->response.status == 0)
		return;
	if (kind != NULL && kind->request_ended != NULL) {
		kind->request_ended(kind, c);
		return;
	}
	count_request(c->request);
	log_line_write(c);
}

/*
 * Clears a head that had a password in it: the next request may be short and
 * overwrite only a part.  A body may have moved the head; the copy that it left
 * is cleared, too.
 */
static NOINLINE void
erase_head(struct conn *c)
{
	bool		 shared = conn_shares_input(c);
	char		*first = shared ? c->read_at : c->own_input.at;
	size_t		 size = shared ? c->read_len : c->own_input.len;

	if (!c->close)			/* the next request follows */
		size = (size_t)(c->input - first) + c->request->parse.size;
	explicit_bzero(first, size);
}

/*
 * Whether the close must wait for the client's.  A close over unread input
 * resets the connection and destroys output that the system still holds, and so
 * does input that comes after the close.  A client that has said that this was
 * its last request sends none as a rule; any other client may have the next
 * request on its way.
 */
static bool
must_linger(const struct conn *c)
{
	const struct request	*r = c->request;

	if (r->response.aborted)
		return false;
	return !c->last_request || c->input_len > r->parse.size ||
	    c->filled || c->send_blocked ||
	    r->body.sent > SOCKET_BUFFER_MIN;
}

static NOINLINE enum go
end_connection(struct conn *c)
{
	bool	broken = c->request->response.aborted;

	if (must_linger(c))
		c->linger = true;
	conn_request_end(c);
	need(!conn_has_output(c));
	if (!broken)
		c->end_flags = WAIT_END;
	if (!c->linger)
		return conn_go(c, STEP_CLOSE);
	c->started_at = c->http->clock->ms;
	c->unacked = SIZE_MAX;
	c->input_len = 0;
	return conn_go(c, STEP_LINGER);
}

enum go
finish_step(struct conn *c)
{
	struct request	*r = c->request;

	log_request(c);
	if ((r->parse.present & 1U << FIELD_AUTHORIZATION) != 0)
		erase_head(c);
	c->session->requests++;
	if (c->http->timed)
		timeouts_note_idle(c);
	if (c->close)
		return end_connection(c);
	need(r->parse.size <= c->input_len);
	c->input += r->parse.size;
	c->input_len -= r->parse.size;
	c->started_at = c->http->clock->ms;	/* a begun head's */
	c->send_blocked = false;
	conn_request_end(c);
	return conn_go(c, c->input_len > 0 ? STEP_PARSE : STEP_RECV);
}

bool
finish_break_off(struct conn *c)
{
	const struct client_kind	*kind = c->session->kind;

	if (c->request->response.status == 0 ||
	    (kind != NULL && kind->request_ended != NULL))
		return false;
	conn_abort(c);
	log_request(c);
	return true;
}

enum go
close_step(struct conn *c)
{
	return conn_wait(c, WAIT_CLOSE, TIMEOUT_IDLE, 0, c->end_flags);
}
