/*
 * chain_stats: a mapping for the counts of each name, and one for what all
 * generations share.
 */
#include <stdlib.h>

#include "lib/clock.h"
#include "lib/counter.h"
#include "lib/hash.h"
#include "lib/mem.h"
#include "stats/chain_stats.h"
#include "stats/named_memory.h"

/* Shared memory, made before the first process that uses it. */
static struct {
	uint64_t	start;
	uint64_t	reloads;
	int64_t		reloaded_at;
} *all;

/* Shared memory. */
struct counts {
	uint64_t		 reloaded;	/* by that reload */
	uint64_t		 counters[CHAIN_STATS_COUNT];
	struct histogram	 histograms[CHAIN_STATS_HISTOGRAM_COUNT];
};

struct chain_stats {
	struct named_memory	**chains;	/* struct counts */
	size_t			 n;
};

static struct named_memories	 chains = TAILQ_HEAD_INITIALIZER(chains);
static struct chain_stats	*used;

static uint64_t
make_start(void)
{
	struct hash_key	random;

	hash_key_random(&random);
	return random.k0;
}

struct chain_stats *
chain_stats_new(const char *const *names, size_t n)
{
	struct chain_stats	*s = mem_zero(sizeof(*s));

	if (all == NULL) {
		all = mem_shared(sizeof(*all));
		all->start = make_start();
	}
	s->n = n;
	s->chains = mem_array(n + 1, sizeof(*s->chains));
	for (size_t i = 0; i < n; i++)
		s->chains[i] = named_memory_hold(&chains, names[i],
		    sizeof(struct counts));
	return s;
}

void
chain_stats_free(struct chain_stats **sp)
{
	struct chain_stats	*s = *sp;

	if (s == NULL)
		return;
	for (size_t i = 0; i < s->n; i++)
		named_memory_release(&chains, s->chains[i]);
	free(s->chains);
	mem_drop(sp);
}

void
chain_stats_use(struct chain_stats *s)
{
	used = s;
}

static struct counts *
find_counts(size_t chain)
{
	return used != NULL && chain < used->n ? used->chains[chain]->at : NULL;
}

void
chain_stats_add(size_t chain, enum chain_stats_counter counter)
{
	struct counts	*c = find_counts(chain);

	if (c != NULL)
		counter_add_shared(&c->counters[counter], 1);
}

void
chain_stats_time(size_t chain, enum chain_stats_histogram histogram, int64_t us)
{
	struct counts	*c = find_counts(chain);

	if (c != NULL)
		histogram_add_shared(&c->histograms[histogram], us);
}

bool
chain_stats_read(size_t chain, struct chain_stats_numbers *to)
{
	struct counts	*c = find_counts(chain);

	if (c == NULL)
		return false;
	*to = (struct chain_stats_numbers){ .name =
	    used->chains[chain]->name };
	for (int i = 0; i < CHAIN_STATS_COUNT; i++)
		to->counters[i] = counter_read(&c->counters[i]);
	for (int i = 0; i < CHAIN_STATS_HISTOGRAM_COUNT; i++)
		histogram_merge(&to->histograms[i], &c->histograms[i]);
	return true;
}

/*
 * Reloads.  A read that begins after a reload has returned sees that reload.
 */

/* Another process may be at a later reload already. */
static void
note_time(int64_t now)
{
	int64_t	last = __atomic_load_n(&all->reloaded_at, __ATOMIC_SEQ_CST);

	while (last < now && !__atomic_compare_exchange_n(&all->reloaded_at,
	    &last, now, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

void
chain_stats_reload(size_t chain)
{
	struct counts	*c = find_counts(chain);
	uint64_t	 number, last;

	if (c == NULL)
		return;
	note_time(clock_ms());
	number = __atomic_add_fetch(&all->reloads, 1, __ATOMIC_SEQ_CST);
	/* Another process may be at its next reload already. */
	last = counter_read(&c->reloaded);
	while (last < number && !__atomic_compare_exchange_n(
	    &c->reloaded, &last, number, false, __ATOMIC_SEQ_CST,
	    __ATOMIC_SEQ_CST))
		;
}

uint64_t
chain_stats_start(void)
{
	return used != NULL ? all->start : 0;
}

uint64_t
chain_stats_reloads(void)
{
	return used != NULL ? counter_read(&all->reloads) : 0;
}

uint64_t
chain_stats_reloaded(size_t chain)
{
	struct counts	*c = find_counts(chain);

	return c != NULL ? counter_read(&c->reloaded) : 0;
}

int64_t
chain_stats_reloaded_at(void)
{
	return used != NULL ?
	    __atomic_load_n(&all->reloaded_at, __ATOMIC_RELAXED) : 0;
}
