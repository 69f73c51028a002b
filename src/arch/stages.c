/*
 * stages: hands clients on.
 */
#include <stddef.h>

#include "arch/clients_private.h"
#include "arch/stages.h"
#include "lib/mem.h"
#include "lib/tally.h"

struct stages {				/* as one of them sees it */
	enum stage		 stage;		/* its own */
	struct clients *const	*all;
	struct queue		*queue;
	struct note		 crowded;	/* to it: make room */
	struct note		 eased;		/* from it: there may be some */
	bool			 ending;
};

struct clients *
stages_host(struct clients *all)
{
	return all->stages == NULL ? all : all->stages->all[STAGE_ACCEPT];
}

static void
arrive(struct queued *place)
{
	struct client	*c = (struct client *)((char *)place -
			    offsetof(struct client, place));

	if (c->all->stages->ending)
		clients_let_go(c);
	else
		clients_run(c);
}

/* It waits for nothing, and from here on it is the other thread's. */
static void
hand_on(struct client *c, struct clients *to)
{
	clients_unlist(c);
	evloop_move(c, to->loop);
	machine_move(c->peer, to->http);
	c->all = to;
	c->place.take = arrive;
	queue_put(to->stages->queue, &c->place);
}

void
stages_run(struct client *c)
{
	const struct stages	*here = c->all->stages;
	enum stage		 next = here->stage;
	const struct wait	*w = machine_run_stage(c->peer, &next);

	if (next != here->stage)
		hand_on(c, here->all[next]);
	else
		clients_settle(c, w);
}

/*
 * Room
 */

void
stages_ease(struct clients *all)
{
	const struct clients	*host = stages_host(all);

	if (host->closed && !host->draining)
		note_send(&all->stages->eased, host->stages->queue);
}

/* Who waits outside may come in. */
static void
heed_ease(void *context, unsigned times)
{
	struct clients	*all = context;

	(void)times;
	if (all->closed && !all->draining)
		clients_open_doors(all, true);
}

static void
heed_crowd(void *context, unsigned times)
{
	while (times-- > 0 && clients_evict(context))
		continue;
}

static size_t
listed(const struct clients *all, enum patience patience)
{
	return tally_read_size(&all->listed[patience]);
}

/* The one whose clients could make room; NULL: there is none, or as many have
 * been asked to already, and have not gone yet. */
static const struct clients *
roomy(const struct clients *all)
{
	const struct clients	*reads = all->stages->all[STAGE_READ_REQUEST];
	const struct clients	*sends = all->stages->all[STAGE_SEND_DATA];
	size_t			 over = all->count > all->limit ?
				    all->count - all->limit : 0;

	if (listed(sends, PATIENCE_LINGER) > over)
		return sends;
	return listed(sends, PATIENCE_LINGER) + listed(reads, PATIENCE_IDLE) >
	    over ? reads : NULL;
}

bool
stages_can_make_room(const struct clients *all)
{
	return roomy(all) != NULL;
}

bool
stages_make_room(const struct clients *all)
{
	const struct clients	*there = roomy(all);

	if (there != NULL)
		note_send(&there->stages->crowded, there->stages->queue);
	return there != NULL;
}

void
stages_join(struct clients *all, enum stage stage,
    struct clients *const *others, struct queue *queue)
{
	struct stages	*s = mem_zero(sizeof(*s));

	s->stage = stage;
	s->all = others;
	s->queue = queue;
	note_init(&s->crowded, heed_crowd, all);
	note_init(&s->eased, heed_ease, others[STAGE_ACCEPT]);
	all->stages = s;
}

void
stages_end(struct clients *all)
{
	all->stages->ending = true;
	clients_end(all);
}
