/*
 * program_stats: mappings, one for the counts of a label, one for the gauges of
 * a program.
 */
#include <sys/mman.h>
#include <sys/param.h>

#include <stdlib.h>
#include <string.h>

#include "lib/counter.h"
#include "lib/mem.h"
#include "lib/visible.h"
#include "stats/named_memory.h"
#include "stats/program_stats.h"

/* Shared memory. */
struct counts {
	uint64_t		 counters[PROGRAM_STATS_COUNT];
	struct histogram	 histograms[PROGRAM_STATS_HISTOGRAM_COUNT];
};

/* Of a program, and behind them those of one server after the other. */
struct gauges {
	unsigned		 users;		/* generations */
	size_t			 size;		/* bytes */
	uint64_t		*at;		/* shared memory */
	uint8_t			*kept;		/* the same, by slot */
};

struct entry {
	struct named_memory	*label;
	struct counts		*counts;	/* the memory of label */
	struct gauges		*gauges;
	char			**servers;	/* addresses */
	size_t			 nservers;
};

struct program_stats {
	struct entry		*entries;
	size_t			 n;
};

static struct named_memories	 labels = TAILQ_HEAD_INITIALIZER(labels);
static struct program_stats	*used;

/*
 * Monitor
 */

/* Reports are lines of UTF-8. */
static char *
copy_visible(const char *text)
{
	char	*copy = mem_string(text);

	visible_line(copy, strlen(copy));
	return copy;
}

static struct gauges *
new_gauges(size_t nservers)
{
	struct gauges	*g = mem_zero(sizeof(*g));

	g->users = 1;
	g->size = (PROGRAM_STATS_GAUGE_COUNT + PROGRAM_STATS_SERVER_COUNT *
	    nservers) * sizeof(*g->at);
	g->at = mem_shared(g->size);
	g->kept = mem_shared(PROGRAM_STATS_SLOTS);
	return g;
}

static void
release_gauges(struct gauges *g)
{
	if (--g->users > 0)
		return;
	munmap(g->at, g->size);
	munmap(g->kept, PROGRAM_STATS_SLOTS);
	free(g);
}

static void
open_entry(struct entry *p, const struct program_stats_label *label)
{
	p->label = named_memory_hold(&labels, label->name,
	    sizeof(*p->counts));
	p->counts = p->label->at;
	p->gauges = new_gauges(label->nservers);
	p->nservers = label->nservers;
	p->servers = mem_array(p->nservers + 1, sizeof(*p->servers));
	for (size_t i = 0; i < p->nservers; i++)
		p->servers[i] = copy_visible(label->servers[i]);
}

struct program_stats *
program_stats_new(const struct program_stats_label *of, size_t n)
{
	struct program_stats	*s = mem_zero(sizeof(*s));

	s->n = n;
	s->entries = mem_array(n, sizeof(*s->entries));
	for (size_t i = 0; i < n; i++)
		open_entry(&s->entries[i], &of[i]);
	return s;
}

void
program_stats_free(struct program_stats **sp)
{
	struct program_stats	*s = *sp;
	struct entry		*p;

	if (s == NULL)
		return;
	for (size_t i = 0; i < s->n; i++) {
		p = &s->entries[i];
		named_memory_release(&labels, p->label);
		release_gauges(p->gauges);
		for (size_t k = 0; k < p->nservers; k++)
			free(p->servers[k]);
		free(p->servers);
	}
	free(s->entries);
	mem_drop(sp);
}

void
program_stats_share(struct program_stats *s, size_t program,
    const struct program_stats *from, size_t other)
{
	struct gauges	**gauges = &s->entries[program].gauges;

	release_gauges(*gauges);
	*gauges = from->entries[other].gauges;
	(*gauges)->users++;
}

static void
set_kept(uint8_t *slot, bool kept)
{
	__atomic_store_n(slot, kept, __ATOMIC_RELEASE);
}

void
program_stats_clear(const struct program_stats *s, size_t program)
{
	struct gauges	*g = s->entries[program].gauges;

	for (size_t i = 0; i < g->size / sizeof(*g->at); i++)
		counter_set(&g->at[i], 0);
	for (size_t i = 0; i < PROGRAM_STATS_SLOTS; i++)
		set_kept(&g->kept[i], false);
}

/*
 * Main, manager
 */

void
program_stats_use(struct program_stats *s)
{
	used = s;
}

static struct entry *
find_entry(size_t number)
{
	return used != NULL && number < used->n ? &used->entries[number] :
	    NULL;
}

void
program_stats_add(size_t program, enum program_stats_counter counter,
    uint64_t more)
{
	const struct entry	*p = find_entry(program);

	if (p != NULL)
		counter_add_shared(&p->counts->counters[counter], more);
}

void
program_stats_time(size_t program, enum program_stats_histogram histogram,
    int64_t us)
{
	const struct entry	*p = find_entry(program);

	if (p != NULL)
		histogram_add_shared(&p->counts->histograms[histogram], us);
}

void
program_stats_set(size_t program, enum program_stats_gauge gauge, uint64_t n)
{
	const struct entry	*p = find_entry(program);

	if (p != NULL)
		counter_set(&p->gauges->at[gauge], n);
}

void
program_stats_keep(size_t program, uint32_t slot, bool kept)
{
	const struct entry	*p = find_entry(program);

	if (p != NULL && slot < PROGRAM_STATS_SLOTS)
		set_kept(&p->gauges->kept[slot], kept);
}

bool
program_stats_is_kept(size_t program, uint32_t slot)
{
	const struct entry	*p = find_entry(program);

	return p != NULL && slot < PROGRAM_STATS_SLOTS &&
	    __atomic_load_n(&p->gauges->kept[slot], __ATOMIC_ACQUIRE) == 1;
}

static uint64_t *
find_server_gauge(const struct entry *p, size_t server, size_t gauge)
{
	return &p->gauges->at[PROGRAM_STATS_GAUGE_COUNT +
	    server * PROGRAM_STATS_SERVER_COUNT + gauge];
}

void
program_stats_set_server(size_t program, size_t server,
    enum program_stats_server_gauge gauge, uint64_t n)
{
	const struct entry	*p = find_entry(program);

	if (p != NULL && server < p->nservers)
		counter_set(find_server_gauge(p, server, gauge), n);
}

/*
 * Reports
 */

/* A process that is kept is idle.  The numbers of mains and of the manager are
 * not read at the same time. */
static void
add_kept(size_t program, uint64_t *gauges)
{
	uint64_t	kept = 0;

	for (uint32_t i = 0; i < PROGRAM_STATS_SLOTS; i++)
		kept += program_stats_is_kept(program, i);
	kept = MIN(kept, gauges[PROGRAM_STATS_GAUGE_BUSY]);
	gauges[PROGRAM_STATS_GAUGE_BUSY] -= kept;
	gauges[PROGRAM_STATS_GAUGE_IDLE] += kept;
}

bool
program_stats_read(size_t program, struct program_stats_numbers *to)
{
	const struct entry	*p = find_entry(program);

	if (p == NULL)
		return false;
	*to = (struct program_stats_numbers){ .name = p->label->name,
	    .nservers = p->nservers };
	for (int i = 0; i < PROGRAM_STATS_COUNT; i++)
		to->counters[i] = counter_read(&p->counts->counters[i]);
	for (int i = 0; i < PROGRAM_STATS_GAUGE_COUNT; i++)
		to->gauges[i] = counter_read(&p->gauges->at[i]);
	add_kept(program, to->gauges);
	for (int i = 0; i < PROGRAM_STATS_HISTOGRAM_COUNT; i++)
		histogram_merge(&to->histograms[i], &p->counts->histograms[i]);
	return true;
}

const char *
program_stats_read_server(size_t program, size_t server,
    uint64_t to[PROGRAM_STATS_SERVER_COUNT])
{
	const struct entry	*p = find_entry(program);

	for (size_t i = 0; i < PROGRAM_STATS_SERVER_COUNT; i++)
		to[i] = counter_read(find_server_gauge(p, server, i));
	return p->servers[server];
}
