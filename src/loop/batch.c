/*
 * batch: collects connections until the batch is full or the iteration ends.
 */
#include "loop/batch.h"
#include "loop/clients_private.h"

static void
run_batch(struct clients *all)
{
	struct session	*sessions[MACHINE_BATCH_MAX];
	unsigned	 n = all->nbatch;

	if (n == 0)
		return;
	all->nbatch = 0;
	for (unsigned i = 0; i < n; i++)
		sessions[i] = all->batch[i]->session;
	if (n > 1)
		machine_run_batch(sessions, n);
	for (unsigned i = 0; i < n; i++)
		clients_run(all->batch[i]);
	machine_end_batch(all->http);
}

static bool
end_iteration(void *context)
{
	run_batch(context);
	return false;
}

/* Adds a connection to the batch, or runs it at once. */
static void
batch_client(struct client *c)
{
	struct clients	*all = c->all;

	machine_wake(c->session, OUTCOME_READY);
	if (!machine_can_batch(c->session)) {
		clients_run(c);
		return;
	}
	all->batch[all->nbatch++] = c;
	if (all->nbatch == MACHINE_BATCH_MAX)
		run_batch(all);
}

static void
on_ready(void *context)
{
	struct client	*c = context;

	c->saw_eof = evloop_saw_eof(c);
	if (c->timeout != TIMEOUT_SEND) {
		batch_client(c);
		return;
	}
	run_batch(c->all);
	clients_wake(c, OUTCOME_READY);
}

void
batch_enable(struct clients *all)
{
	all->on_ready = on_ready;
	all->run_batch = run_batch;
	evloop_on_iteration(all->loop, end_iteration, all);
}
