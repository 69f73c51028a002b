/*
 * proxy: the step that reads for whom a proxy has connected, before the first
 * request.
 */
#include "http/park.h"
#include "http/peer.h"

/* Waits for the rest of the header, which has the deadline of a head. */
static enum go
read_header(struct conn *c)
{
	return recv_more(c, TIMEOUT_HEAD,
	    c->started_at + c->http->conf->limits.head);
}

static enum go
take_header(struct conn *c, const struct proxy_header *h)
{
	c->input += h->size;
	c->input_len -= h->size;
	c->started_at = c->http->clock->ms;	/* a begun head's */
	peer_take_header(c->session, h);
	return conn_go(c, c->input_len > 0 &&
	    c->session->opening == OPENING_NONE ? STEP_PARSE : STEP_RECV);
}

enum go
proxy_step(struct conn *c)
{
	struct proxy_header	h;
	enum outcome		outcome = conn_outcome(c);

	if (outcome == OUTCOME_READY && c->wait.n > 0)
		recv_take(c);
	else if (outcome != OUTCOME_NONE)
		return peer_refuse_header(c, outcome == OUTCOME_TIMED_OUT ?
		    PEER_LATE : PEER_CUT_OFF, NULL);
	switch (proxy_header_read(c->input, c->input_len, &h)) {
	case PROXY_HEADER_MORE:
		return read_header(c);
	case PROXY_HEADER_DONE:
		return take_header(c, &h);
	default:
		return peer_refuse_header(c, PEER_WRONG, h.why);
	}
}
