/*
 * accept_balanced: leaves connections to others that have fewer.
 */
#include "loop/accept.h"

#define YIELD_TIME	2	/* ms that others have the queue */
#define IMBALANCE	4	/* connections beyond what another has, and an
				 * eighth of that */

/* A worker with many more connections than another one leaves the queue to the
 * others for YIELD_TIME: otherwise the first to wake would take all of many
 * that arrive at once.  After the yield it accepts what is left. */
static bool
yield_queue(struct acceptor *a)
{
	size_t	least;

	if (a->setup.least == NULL)
		return false;
	if (a->forced_accepts > 0) {
		a->forced_accepts--;
		return false;
	}
	least = a->setup.least(a->clients->context);
	if (least == SIZE_MAX ||
	    a->clients->count <= least + least / 8 + IMBALANCE)
		return false;
	for (size_t i = 0; i < a->nsocks; i++)
		evloop_set(a->socks[i].watch, EVLOOP_NONE);
	a->forced_accepts = ACCEPTS_MAX;
	evloop_arm(a->timer, a->clients->clock->ms + YIELD_TIME);
	return true;
}

static void
end_forced_accepts(struct acceptor *a)
{
	a->forced_accepts = 0;
}

const struct accept_policy	accept_balanced = {
	.start = accept_start, .yield = yield_queue,
	.emptied = end_forced_accepts, .pause = accept_pause,
	.opened = accept_opened, .closed = accept_closed, .tick = accept_start,
};
