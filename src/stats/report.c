/*
 * report: gathers the numbers, and writes them as lines of text.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lock.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "stats/report_private.h"
#include "stats/scoreboard.h"

static void			(*measure_gauges)(void *);
static void			*measure_context;
/* For the data of this file, and the gauges. */
static struct lock		*lock;
static struct report_sample	 samples[REPORT_SAMPLES];
static size_t			 nsamples;

static void	write_text(struct buf *, const struct report *);

static const struct {
	const char	*name, *media, *type;
} forms[] = {
#define X(id, name, media, type) [REPORT_##id] = { name, media, type },
	REPORT_FORMS(X)
#undef X
};

void
report_set_measure(void (*ask)(void *), void *of)
{
	measure_gauges = ask;
	measure_context = of;
}

void
report_use_lock(void)
{
	lock = lock_new();
}

bool
report_find_form(struct str name, enum report_form *form)
{
	for (int i = 0; i < REPORT_FORM_COUNT; i++)
		if (str_same(name, str_of(forms[i].name))) {
			*form = (enum report_form)i;
			return true;
		}
	return false;
}

const char *
report_media(enum report_form form)
{
	return forms[form].media;
}

const char *
report_type(enum report_form form)
{
	return forms[form].type;
}

/* Adds at most one sample a second; the oldest one goes. */
static void
add_sample(const struct stats_slot *sum)
{
	int64_t	now = stats_gauges[STATS_GAUGE_UPTIME];

	if (nsamples > 0 && samples[nsamples - 1].at == now)
		return;
	if (nsamples == REPORT_SAMPLES)
		memmove(samples, samples + 1,
		    --nsamples * sizeof(samples[0]));
	samples[nsamples++] = (struct report_sample){
		.at = now,
		.requests = sum->counters[STATS_REQUESTS],
		.bytes = sum->counters[STATS_BYTES],
	};
}

static void
read_programs(struct report *r)
{
	struct program_stats_numbers	*all = NULL;
	size_t				 n = 0;

	do
		all = mem_add_room(all, n, sizeof(*all));
	while (program_stats_read(n, &all[n]) && n++ < SIZE_MAX);
	r->programs = all;
	r->nprograms = n;
}

static void
read_chains(struct report *r)
{
	struct chain_stats_numbers	*all = NULL;
	size_t				 n = 0;

	do
		all = mem_add_room(all, n, sizeof(*all));
	while (chain_stats_read(n, &all[n]) && n++ < SIZE_MAX);
	r->chains = all;
	r->nchains = n;
}

static void
write_report(struct buf *to,
    void (*write)(struct buf *, const struct report *))
{
	struct report	r = { .samples = samples };

	lock_acquire(lock);
	if (measure_gauges != NULL)
		measure_gauges(measure_context);
	scoreboard_sum(&r.sum);
	for (size_t i = 0; i < STATS_GAUGE_COUNT; i++)
		r.gauges[i] = (uint64_t)stats_gauges[i];
	add_sample(&r.sum);
	r.nsamples = nsamples;
	read_programs(&r);
	read_chains(&r);
	write(to, &r);
	lock_release(lock);
	free((void *)(uintptr_t)r.programs);
	free((void *)(uintptr_t)r.chains);
}

void
report_write(struct buf *to, enum report_form form)
{
	static void (*const	write[])(struct buf *,
				    const struct report *) = {
		[REPORT_HTML] = report_html,
		[REPORT_JSON] = report_json,
		[REPORT_PROMETHEUS] = report_prometheus,
		[REPORT_TEXT] = write_text,
	};

	write_report(to, write[form]);
}

void
report_caches(struct buf *to)
{
	write_report(to, report_advice);
}

static void
write_line(struct buf *to, const char *before, const char *name,
    const char *part, enum stats_unit unit, uint64_t n)
{
	buf_addf(to, "%s%s%s ", before, name, part);
	report_number(to, unit, n);
	buf_addc(to, '\n');
}

static void
write_numbers(struct buf *to, const char *before, enum stats_kind kind,
    const uint64_t *numbers)
{
	const struct stats_row	*rows;
	size_t			 n;

	rows = stats_rows(kind, &n);
	for (size_t i = 0; i < n; i++)
		write_line(to, before, rows[i].name, "", rows[i].unit,
		    numbers[i]);
}

static void
write_histogram(struct buf *to, const char *before,
    const struct stats_row *row, const struct histogram *h)
{
	const struct {
		const char	*part;
		enum stats_unit	 unit;
		uint64_t	 n;
	} lines[] = {
		{ "-count", STATS_UNIT_ONE, h->n },
		{ "-sum", row->unit, h->sum },
		{ "-max", row->unit, h->max },
		{ "-median", row->unit, report_quantile(h, 500) },
		{ "-p99", row->unit, report_quantile(h, 990) },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		write_line(to, before, row->name, lines[i].part, lines[i].unit,
		    lines[i].n);
}

static void
write_histograms(struct buf *to, const char *before, enum stats_kind kind,
    const struct histogram *all)
{
	const struct stats_row	*rows;
	size_t			 n;

	rows = stats_rows(kind, &n);
	for (size_t i = 0; i < n; i++)
		write_histogram(to, before, &rows[i], &all[i]);
}

static void
write_fs_queues(struct buf *to)
{
	const struct stats_fs_queue	*l = stats_fs_queues;

	for (size_t i = 0; i < stats_nfs_queues; i++, l++)
		buf_addf(to, "fs-%s-queued %" PRId64 "\n"
		    "fs-%s-helpers %" PRId64 "\nfs-%s-limit %" PRId64 "\n",
		    l->name, l->queued, l->name, l->helpers, l->name, l->limit);
}

/* Adds a name of the conf, in which a blank would end the name of a line. */
static void
add_name(struct buf *to, const char *name)
{
	for (; *name != '\0'; name++)
		buf_addc(to, *name == ' ' ? '_' : *name);
}

static void
write_server(struct buf *to, struct buf *before, size_t program, size_t server)
{
	size_t		 len = before->len;
	uint64_t	 gauges[PROGRAM_STATS_SERVER_COUNT];

	buf_adds(before, "server-");
	add_name(before, program_stats_read_server(program, server, gauges));
	buf_addc(before, '-');
	write_numbers(to, buf_string(before), STATS_KIND_SERVER_GAUGE, gauges);
	before->len = len;
}

static void
write_program(struct buf *to, const struct program_stats_numbers *p,
    size_t program)
{
	struct buf	before = { 0 };

	buf_adds(&before, "program-");
	add_name(&before, p->name);
	buf_addc(&before, '-');
	write_numbers(to, buf_string(&before), STATS_KIND_PROGRAM_COUNTER,
	    p->counters);
	write_numbers(to, buf_string(&before), STATS_KIND_PROGRAM_GAUGE,
	    p->gauges);
	write_histograms(to, buf_string(&before), STATS_KIND_PROGRAM_HISTOGRAM,
	    p->histograms);
	for (size_t i = 0; i < p->nservers; i++)
		write_server(to, &before, program, i);
	buf_free(&before);
}

static void
write_chain(struct buf *to, const struct chain_stats_numbers *c)
{
	struct buf	before = { 0 };

	buf_adds(&before, "chain-");
	add_name(&before, c->name);
	buf_addc(&before, '-');
	write_numbers(to, buf_string(&before), STATS_KIND_CHAIN_COUNTER,
	    c->counters);
	write_histograms(to, buf_string(&before), STATS_KIND_CHAIN_HISTOGRAM,
	    c->histograms);
	buf_free(&before);
}

static void
write_text(struct buf *to, const struct report *r)
{
	buf_addf(to, "version %s\n", PACKAGE_VERSION);
	write_numbers(to, "", STATS_KIND_COUNTER, r->sum.counters);
	write_numbers(to, "", STATS_KIND_GAUGE, r->gauges);
	write_histograms(to, "", STATS_KIND_HISTOGRAM, r->sum.histograms);
	write_fs_queues(to);
	for (size_t i = 0; i < r->nprograms; i++)
		write_program(to, &r->programs[i], i);
	for (size_t i = 0; i < r->nchains; i++)
		write_chain(to, &r->chains[i]);
}
