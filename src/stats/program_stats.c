/*
 * program_stats: a mapping for the counts of each label, one for the gauges of
 * each generation.
 */
#include <sys/mman.h>
#include <sys/queue.h>

#include <stdlib.h>
#include <string.h>

#include "lib/counter.h"
#include "lib/mem.h"
#include "lib/visible.h"
#include "stats/program_stats.h"

/* Shared memory. */
struct counts {
	uint64_t		 counters[PROGRAM_STATS_COUNT];
	struct histogram	 histograms[PROGRAM_STATS_HISTOGRAM_COUNT];
};

/* The counts of a label; the monitor knows all. */
struct label {
	TAILQ_ENTRY(label)	 link;
	char			*name;
	unsigned		 users;		/* generations */
	struct counts		*counts;
};

struct entry {
	struct label		*label;
	uint64_t		*gauges;	/* shared memory, as the next */
	uint64_t		*server_gauges;	/* of one after the other */
	char			**servers;	/* addresses */
	size_t			 nservers;
};

struct program_stats {
	struct entry		*entries;
	size_t			 n;
	uint64_t		*gauges;	/* shared memory of all */
	size_t			 size;		/* bytes there */
};

static TAILQ_HEAD(, label)	 labels = TAILQ_HEAD_INITIALIZER(labels);
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

static struct label *
hold_label(const char *name)
{
	struct label	*l;
	char		*copy = copy_visible(name);

	TAILQ_FOREACH(l, &labels, link)
		if (strcmp(l->name, copy) == 0)
			break;
	if (l != NULL) {
		free(copy);
	} else {
		l = mem_zero(sizeof(*l));
		l->name = copy;
		l->counts = mem_shared(sizeof(*l->counts));
		TAILQ_INSERT_TAIL(&labels, l, link);
	}
	l->users++;
	return l;
}

static void
release_label(struct label *l)
{
	if (--l->users > 0)
		return;
	TAILQ_REMOVE(&labels, l, link);
	munmap(l->counts, sizeof(*l->counts));
	free(l->name);
	free(l);
}

static size_t
count_gauges(const struct program_stats_label *label)
{
	return PROGRAM_STATS_GAUGE_COUNT +
	    PROGRAM_STATS_SERVER_COUNT * label->nservers;
}

static void
open_entry(struct entry *p, const struct program_stats_label *label,
    uint64_t *gauges)
{
	p->label = hold_label(label->name);
	p->gauges = gauges;
	p->server_gauges = gauges + PROGRAM_STATS_GAUGE_COUNT;
	p->nservers = label->nservers;
	p->servers = mem_array(p->nservers + 1, sizeof(*p->servers));
	for (size_t i = 0; i < p->nservers; i++)
		p->servers[i] = copy_visible(label->servers[i]);
}

struct program_stats *
program_stats_new(const struct program_stats_label *of, size_t n)
{
	struct program_stats	*s = mem_zero(sizeof(*s));
	uint64_t		*gauges;

	s->n = n;
	s->entries = mem_array(n, sizeof(*s->entries));
	for (size_t i = 0; i < n; i++)
		s->size += count_gauges(&of[i]) * sizeof(*s->gauges);
	s->gauges = gauges = mem_shared(s->size);
	for (size_t i = 0; i < n; i++) {
		open_entry(&s->entries[i], &of[i], gauges);
		gauges += count_gauges(&of[i]);
	}
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
		release_label(p->label);
		for (size_t k = 0; k < p->nservers; k++)
			free(p->servers[k]);
		free(p->servers);
	}
	munmap(s->gauges, s->size);
	free(s->entries);
	mem_drop(sp);
}

void
program_stats_clear(struct program_stats *s)
{
	for (size_t i = 0; i < s->size / sizeof(*s->gauges); i++)
		counter_set(&s->gauges[i], 0);
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
		counter_add_shared(&p->label->counts->counters[counter], more);
}

void
program_stats_time(size_t program, enum program_stats_histogram histogram,
    int64_t us)
{
	const struct entry	*p = find_entry(program);

	if (p != NULL)
		histogram_add_shared(&p->label->counts->histograms[histogram],
		    us);
}

void
program_stats_set(size_t program, enum program_stats_gauge gauge, uint64_t n)
{
	const struct entry	*p = find_entry(program);

	if (p != NULL)
		counter_set(&p->gauges[gauge], n);
}

void
program_stats_set_server(size_t program, size_t server,
    enum program_stats_server_gauge gauge, uint64_t n)
{
	const struct entry	*p = find_entry(program);

	if (p != NULL && server < p->nservers)
		counter_set(&p->server_gauges[server *
		    PROGRAM_STATS_SERVER_COUNT + gauge], n);
}

/*
 * Reports
 */

bool
program_stats_read(size_t program, struct program_stats_numbers *to)
{
	const struct entry	*p = find_entry(program);

	if (p == NULL)
		return false;
	*to = (struct program_stats_numbers){ .name = p->label->name,
	    .nservers = p->nservers };
	for (int i = 0; i < PROGRAM_STATS_COUNT; i++)
		to->counters[i] = counter_read(&p->label->counts->counters[i]);
	for (int i = 0; i < PROGRAM_STATS_GAUGE_COUNT; i++)
		to->gauges[i] = counter_read(&p->gauges[i]);
	for (int i = 0; i < PROGRAM_STATS_HISTOGRAM_COUNT; i++)
		histogram_merge(&to->histograms[i],
		    &p->label->counts->histograms[i]);
	return true;
}

const char *
program_stats_read_server(size_t program, size_t server,
    uint64_t to[PROGRAM_STATS_SERVER_COUNT])
{
	const struct entry	*p = find_entry(program);

	for (int i = 0; i < PROGRAM_STATS_SERVER_COUNT; i++)
		to[i] = counter_read(&p->server_gauges[server *
		    PROGRAM_STATS_SERVER_COUNT + (size_t)i]);
	return p->servers[server];
}
