/*
 * order: counts what small responses have got ahead of large ones.
 */
#include <sys/param.h>

#include "http/conn.h"
#include "http/limits/order.h"

void
order_init(struct order_state *o, bool by_size)
{
	*o = (struct order_state){ .by_size = by_size, .limit = ORDER_AHEAD };
}

static void
end_suspension(struct order_state *o, int64_t limit)
{
	o->suspended = false;
	o->ahead = 0;
	o->limit = limit;
}

/* A large response has got some: that the order was suspended has helped. */
static void
count_large(struct order_state *o, int64_t bytes)
{
	o->ahead -= ORDER_SHARE * MIN(bytes, ORDER_AHEAD_MAX);
	if (o->ahead <= 0)
		end_suspension(o, o->suspended ? ORDER_AHEAD : o->limit);
}

/* A suspension that has not helped ends, too. */
static void
count_suspended(struct order_state *o, int64_t bytes)
{
	o->ahead -= bytes;
	if (o->ahead <= 0)
		end_suspension(o, MIN(2 * o->limit, ORDER_AHEAD_MAX));
}

void
order_count(struct order_state *o, bool large, int64_t bytes)
{
	if (large) {
		count_large(o, bytes);
	} else if (o->nwaiting == 0) {
		end_suspension(o, o->limit);
	} else if (o->suspended) {
		count_suspended(o, bytes);
	} else {
		o->ahead += bytes;
		o->suspended = o->ahead >= o->limit;
	}
}

/* Whether much of the response is left. */
static bool
is_large(const struct conn *c)
{
	const struct request	*r = c->request;
	int64_t			 left = (int64_t)conn_output(c)->bytes;

	if (r != NULL)
		left += r->body.end - r->body.next;
	return left > ORDER_SMALL_MAX;
}

/* The bytes have left the output. */
void
order_take(struct conn *c, int64_t bytes)
{
	struct order_state	*o = &c->http->order;

	if (o->by_size)
		order_count(o, c->counts_large, bytes);
}

unsigned
order_flag(struct conn *c)
{
	const struct order_state	*o = &c->http->order;

	if (!o->by_size)
		return 0;
	c->counts_large = is_large(c);
	return c->counts_large || o->suspended ? WAIT_LARGE : 0;
}

void
order_park(struct conn *c)
{
	if (!c->http->order.by_size || !c->counts_large)
		return;
	c->waits_large = true;
	c->http->order.nwaiting++;
}

void
order_unpark(struct conn *c)
{
	if (!c->waits_large)
		return;
	c->waits_large = false;
	c->http->order.nwaiting--;
}
