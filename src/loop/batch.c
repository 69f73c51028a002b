/*
 * batch: collects connections until the batch is full or the iteration ends.
 */
#include "loop/batch.h"
#include "loop/clients_private.h"

void
batch_run(struct clients *all)
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
	batch_run(context);
	return false;
}

void
batch_enable(struct clients *all)
{
	all->batching = true;
	evloop_on_iteration(all->loop, end_iteration, all);
}

void
batch_wake(struct client *c)
{
	struct clients	*all = c->all;

	machine_wake(c->session, OUTCOME_READY);
	if (!machine_can_batch(c->session)) {
		clients_run(c);
		return;
	}
	all->batch[all->nbatch++] = c;
	if (all->nbatch == MACHINE_BATCH_MAX)
		batch_run(all);
}
