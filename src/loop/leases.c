/*
 * leases: a list for each program, the last kept first.
 */
#include <sys/queue.h>

#include <stdlib.h>

#include "lib/io.h"
#include "lib/mem.h"
#include "loop/leases.h"
#include "shared/program_message.h"
#include "stats/program_stats.h"

struct kept {
	struct lease	 lease;
	struct leases	*leases;
	size_t		 program;
	int64_t		 since;		/* ms */
	TAILQ_ENTRY(kept) link;
};

TAILQ_HEAD(kept_list, kept);

struct leases {
	struct evloop	*loop;
	const struct clock *clock;
	_Atomic size_t	*count;
	struct kept_list *lists;	/* by number of the program */
	size_t		 nlists;
	size_t		 nkept;
	struct watch	*timer;
	bool		 is_armed;
};

struct leases *
leases_new(struct evloop *loop, const struct clock *clock,
    _Atomic size_t *count)
{
	struct leases	*l = mem_zero(sizeof(*l));

	l->loop = loop;
	l->clock = clock;
	l->count = count;
	return l;
}

/* Takes it out of its list, and frees. */
static void
remove_kept(struct kept *k)
{
	struct leases	*l = k->leases;

	TAILQ_REMOVE(&l->lists[k->program], k, link);
	l->nkept--;
	(*l->count)--;
	program_stats_keep(k->program, k->lease.slot, false);
	free(k);
}

/* The manager looks at the connection, too, and sees whether it is of use. */
void
leases_give_back(struct lease *lease)
{
	evloop_unwatch(&lease->reports);
	evloop_unwatch(&lease->readable);
	program_message_send_done(lease->request, &(struct program_done){
	    .nanswered = lease->nanswered, .again = true });
	io_close(&lease->request);
	io_close(&lease->connection);
}

static void
give_back(struct kept *k)
{
	struct lease	lease = k->lease;

	remove_kept(k);
	leases_give_back(&lease);
}

/* A recall, the end of the process, bytes that nobody has asked for. */
static void
on_event(void *kept)
{
	give_back(kept);
}

/*
 * Time
 */

static void
on_timer(void *context)
{
	struct leases	*l = context;
	struct kept	*k;

	for (size_t i = 0; i < l->nlists; i++)
		while ((k = TAILQ_LAST(&l->lists[i], kept_list)) != NULL &&
		    k->since + LEASES_MS <= l->clock->ms)
			give_back(k);
	l->is_armed = l->nkept > 0;
	if (l->is_armed)
		evloop_arm(l->timer, l->clock->ms + LEASES_MS / 2);
}

static void
await_time(struct leases *l)
{
	if (l->is_armed)
		return;
	l->is_armed = true;
	if (l->timer == NULL)
		l->timer = evloop_timer(l->loop, on_timer, l);
	evloop_arm(l->timer, l->clock->ms + LEASES_MS);
}

/*
 * Keeping
 */

static struct kept_list *
get_list(struct leases *l, size_t program)
{
	struct kept_list	*lists;

	if (program < l->nlists)
		return &l->lists[program];
	/* The first of a list refers to its head. */
	lists = mem_array(program + 1, sizeof(*lists));
	for (size_t i = 0; i <= program; i++) {
		TAILQ_INIT(&lists[i]);
		if (i < l->nlists)
			TAILQ_CONCAT(&lists[i], &l->lists[i], link);
	}
	free(l->lists);
	l->lists = lists;
	l->nlists = program + 1;
	return &l->lists[program];
}

void
leases_keep(struct leases *l, size_t program, struct lease *lease)
{
	struct kept	*k = mem_zero(sizeof(*k));

	k->lease = *lease;
	k->leases = l;
	k->program = program;
	k->since = l->clock->ms;
	*lease = (struct lease){ .request = -1, .connection = -1 };
	evloop_redirect(k->lease.reports, on_event, k);
	evloop_redirect(k->lease.readable, on_event, k);
	TAILQ_INSERT_HEAD(get_list(l, program), k, link);
	l->nkept++;
	await_time(l);
	(*l->count)++;
	program_stats_keep(program, k->lease.slot, true);
}

bool
leases_take(struct leases *l, size_t program, struct lease *lease)
{
	struct kept	*k;

	if (l->nkept == 0 || program >= l->nlists ||
	    (k = TAILQ_FIRST(&l->lists[program])) == NULL)
		return false;
	*lease = k->lease;
	remove_kept(k);
	return true;
}

bool
leases_drop(struct leases *l)
{
	struct kept	*k;

	for (size_t i = 0; i < l->nlists; i++) {
		k = TAILQ_LAST(&l->lists[i], kept_list);
		if (k != NULL) {
			give_back(k);
			return true;
		}
	}
	return false;
}

void
leases_free(struct leases **lp)
{
	struct leases	*l = *lp;

	while (leases_drop(l))
		continue;
	evloop_unwatch(&l->timer);
	free(l->lists);
	mem_drop(lp);
}
