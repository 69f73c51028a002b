/*
 * report: gathers the numbers, and writes them as lines of text.
 */
#include <inttypes.h>
#include <string.h>

#include "lib/lock.h"
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
	struct report		 r = { .samples = samples };

	lock_acquire(lock);
	if (measure_gauges != NULL)
		measure_gauges(measure_context);
	scoreboard_sum(&r.sum);
	for (size_t i = 0; i < STATS_GAUGE_COUNT; i++)
		r.gauges[i] = (uint64_t)stats_gauges[i];
	add_sample(&r.sum);
	r.nsamples = nsamples;
	write[form](to, &r);
	lock_release(lock);
}

static void
write_line(struct buf *to, const char *name, const char *part,
    enum stats_unit unit, uint64_t n)
{
	buf_addf(to, "%s%s ", name, part);
	report_number(to, unit, n);
	buf_addc(to, '\n');
}

static void
write_histogram(struct buf *to, const struct stats_row *row,
    const struct histogram *h)
{
	write_line(to, row->name, "-count", STATS_UNIT_ONE, h->n);
	write_line(to, row->name, "-sum", row->unit, h->sum);
	write_line(to, row->name, "-max", row->unit, h->max);
	write_line(
	    to, row->name, "-median", row->unit, report_quantile(h, 500));
	write_line(to, row->name, "-p99", row->unit, report_quantile(h, 990));
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

static void
write_text(struct buf *to, const struct report *r)
{
	const struct stats_row	*rows;
	size_t			 n;

	buf_addf(to, "version %s\n", PACKAGE_VERSION);
	rows = stats_rows(STATS_KIND_COUNTER, &n);
	for (size_t i = 0; i < n; i++)
		write_line(
		    to, rows[i].name, "", rows[i].unit, r->sum.counters[i]);
	rows = stats_rows(STATS_KIND_GAUGE, &n);
	for (size_t i = 0; i < n; i++)
		write_line(to, rows[i].name, "", rows[i].unit, r->gauges[i]);
	rows = stats_rows(STATS_KIND_HISTOGRAM, &n);
	for (size_t i = 0; i < n; i++)
		write_histogram(to, &rows[i], &r->sum.histograms[i]);
	write_fs_queues(to);
}
