/*
 * chain_stats: a mapping for the counts of each name, and one for what all
 * generations share.
 */
#include <sys/mman.h>
#include <sys/queue.h>

#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/counter.h"
#include "lib/mem.h"
#include "lib/visible.h"
#include "stats/chain_stats.h"

/* Shared memory, made before the first process that uses it. */
static struct {
	uint64_t	reloads;
	int64_t		reloaded_at;
} *all;

/* Shared memory. */
struct counts {
	uint64_t		 reloaded;	/* by that reload */
	uint64_t		 counters[CHAIN_STATS_COUNT];
	struct histogram	 histograms[CHAIN_STATS_HISTOGRAM_COUNT];
};

/* The counts of a name; the monitor has all names. */
struct chain {
	TAILQ_ENTRY(chain)	 link;
	char			*name;
	unsigned		 users;		/* generations */
	struct counts		*counts;
};

struct chain_stats {
	struct chain		**chains;
	size_t			 n;
};

static TAILQ_HEAD(, chain)	 chains = TAILQ_HEAD_INITIALIZER(chains);
static struct chain_stats	*used;

static struct chain *
hold_chain(const char *name)
{
	struct chain	*c;
	char		*copy = mem_string(name);

	visible_line(copy, strlen(copy));
	TAILQ_FOREACH(c, &chains, link)
		if (strcmp(c->name, copy) == 0)
			break;
	if (c != NULL) {
		free(copy);
	} else {
		c = mem_zero(sizeof(*c));
		c->name = copy;
		c->counts = mem_shared(sizeof(*c->counts));
		TAILQ_INSERT_TAIL(&chains, c, link);
	}
	c->users++;
	return c;
}

static void
release_chain(struct chain *c)
{
	if (--c->users > 0)
		return;
	TAILQ_REMOVE(&chains, c, link);
	munmap(c->counts, sizeof(*c->counts));
	free(c->name);
	free(c);
}

struct chain_stats *
chain_stats_new(const char *const *names, size_t n)
{
	struct chain_stats	*s = mem_zero(sizeof(*s));

	if (all == NULL)
		all = mem_shared(sizeof(*all));
	s->n = n;
	s->chains = mem_array(n + 1, sizeof(*s->chains));
	for (size_t i = 0; i < n; i++)
		s->chains[i] = hold_chain(names[i]);
	return s;
}

void
chain_stats_free(struct chain_stats **sp)
{
	struct chain_stats	*s = *sp;

	if (s == NULL)
		return;
	for (size_t i = 0; i < s->n; i++)
		release_chain(s->chains[i]);
	free(s->chains);
	mem_drop(sp);
}

void
chain_stats_use(struct chain_stats *s)
{
	used = s;
}

static struct chain *
find_chain(size_t number)
{
	return used != NULL && number < used->n ? used->chains[number] : NULL;
}

void
chain_stats_add(size_t chain, enum chain_stats_counter counter)
{
	const struct chain	*c = find_chain(chain);

	if (c != NULL)
		counter_add_shared(&c->counts->counters[counter], 1);
}

void
chain_stats_time(size_t chain, enum chain_stats_histogram histogram, int64_t us)
{
	const struct chain	*c = find_chain(chain);

	if (c != NULL)
		histogram_add_shared(&c->counts->histograms[histogram], us);
}

bool
chain_stats_read(size_t chain, struct chain_stats_numbers *to)
{
	const struct chain	*c = find_chain(chain);

	if (c == NULL)
		return false;
	*to = (struct chain_stats_numbers){ .name = c->name };
	for (int i = 0; i < CHAIN_STATS_COUNT; i++)
		to->counters[i] = counter_read(&c->counts->counters[i]);
	for (int i = 0; i < CHAIN_STATS_HISTOGRAM_COUNT; i++)
		histogram_merge(&to->histograms[i], &c->counts->histograms[i]);
	return true;
}

/*
 * Reloads.  A read that begins after a reload has returned sees that reload.
 */

void
chain_stats_reload(size_t chain)
{
	struct chain	*c = find_chain(chain);
	uint64_t	 number, last;

	if (c == NULL)
		return;
	__atomic_store_n(&all->reloaded_at, clock_ms(), __ATOMIC_SEQ_CST);
	number = __atomic_add_fetch(&all->reloads, 1, __ATOMIC_SEQ_CST);
	/* Another process may be at its next reload already. */
	last = counter_read(&c->counts->reloaded);
	while (last < number && !__atomic_compare_exchange_n(
	    &c->counts->reloaded, &last, number, false, __ATOMIC_SEQ_CST,
	    __ATOMIC_SEQ_CST))
		;
}

uint64_t
chain_stats_reloads(void)
{
	return used != NULL ? counter_read(&all->reloads) : 0;
}

uint64_t
chain_stats_reloaded(size_t chain)
{
	const struct chain	*c = find_chain(chain);

	return c != NULL ? counter_read(&c->counts->reloaded) : 0;
}

int64_t
chain_stats_reloaded_at(void)
{
	return used != NULL ?
	    __atomic_load_n(&all->reloaded_at, __ATOMIC_RELAXED) : 0;
}
