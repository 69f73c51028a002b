/*
 * batch: collects connections until the batch is full or the iteration ends.
 */
#include "lib/compiler.h"
#include "loop/batch.h"
#include "loop/clients_private.h"

#define RECV_SIZE_MIN	4096	/* bytes of room for a READ */

/* The READs share a half of the room, and each session that goes on reading
 * has the other half while it runs alone. */
#define HALF	(MACHINE_INPUT_SIZE / 2)

static COLD void
make_workspaces(struct clients *all)
{
	all->workspaces = machine_new_workspaces(MACHINE_BATCH_MAX);
	for (int i = 0; i < MACHINE_BATCH_MAX; i++) {
		all->workspaces[i].room = all->room + HALF;
		all->workspaces[i].size = HALF;
	}
}

/* Performs READs into the room, one behind the other. */
static void
receive_all(struct clients *all, struct wait *const *waits, unsigned n)
{
	char		*at = all->room;
	size_t		 left = HALF;
	struct wait	*w;

	for (unsigned i = 0; i < n && left >= RECV_SIZE_MIN; i++) {
		w = waits[i];
		if (w->kind != WAIT_READ || w->size != HALF)
			continue;
		w->room = at;
		w->size = left;
		if (net_perform(&all->batch[i]->sock, w) != NET_DONE) {
			/* The session may try again, behind others. */
			w->room = all->room + HALF;
			w->size = HALF;
			continue;
		}
		if (w->n <= 0)
			continue;
		at += w->n;
		left -= (size_t)w->n;
	}
}

/* Whether an operation may be performed later than others. */
static bool
may_be_held(const struct wait *w)
{
	return w->kind == WAIT_WRITE && w->niov == 1 && w->flags == 0;
}

static bool
sends(const struct wait *w)
{
	return w->kind == WAIT_WRITE || w->kind == WAIT_SEND;
}

/* Runs all sessions up to their responses, and sends these. */
static void
run_all(struct clients *all, unsigned n)
{
	struct session	*sessions[MACHINE_BATCH_MAX];
	struct wait	*waits[MACHINE_BATCH_MAX];

	if (all->workspaces == NULL)
		make_workspaces(all);
	for (unsigned i = 0; i < n; i++) {
		sessions[i] = all->batch[i]->session;
		waits[i] = machine_run(sessions[i], &all->workspaces[i],
		    STAGE_BIT(READ_REQUEST));
	}
	receive_all(all, waits, n);
	for (unsigned i = 0; i < n; i++)
		machine_run(sessions[i], NULL, STAGE_BIT(READ_REQUEST));
	machine_prefetch(sessions, n);
	for (unsigned i = 0; i < n; i++) {
		do
			waits[i] = machine_run(sessions[i], NULL, STAGES_ALL);
		while (sends(waits[i]) && !may_be_held(waits[i]) &&
		    net_perform(&all->batch[i]->sock, waits[i]) == NET_DONE);
	}
	for (unsigned i = 0; i < n; i++)
		if (may_be_held(waits[i]))
			net_perform(&all->batch[i]->sock, waits[i]);
}

static void
run_batch(struct clients *all)
{
	unsigned	n = all->nbatch;

	if (n == 0)
		return;
	all->nbatch = 0;
	if (n > 1)
		run_all(all, n);
	for (unsigned i = 0; i < n; i++)
		clients_run(all->batch[i]);
}

static bool
end_iteration(void *context)
{
	run_batch(context);
	return false;
}

/* Adds a connection to the batch if it is idle.  Others run at once: one that
 * waits to send may take longer, and so runs after the batch. */
static void
on_ready(void *context)
{
	struct client	*c = context;
	struct clients	*all = c->all;

	clients_note_ready(c);
	if (!machine_is_idle(c->session)) {
		if (c->timeout == TIMEOUT_SEND)
			run_batch(all);
		clients_wake(c, OUTCOME_NONE);
		return;
	}
	all->batch[all->nbatch++] = c;
	if (all->nbatch == MACHINE_BATCH_MAX)
		run_batch(all);
}

void
batch_enable(struct clients *all)
{
	all->on_ready = on_ready;
	all->run_batch = run_batch;
	evloop_on_iteration(all->loop, end_iteration, all);
}
