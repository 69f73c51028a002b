/*
 * report_chains: the numbers of chains of filters as text for people, which
 * ampedctl prints.
 */
#include <sys/param.h>

#include <inttypes.h>
#include <string.h>

#include "stats/report_private.h"

#define NAME		"name"
#define COLUMN_WIDTH	10

static void
add_cell(struct buf *to, const char *text)
{
	buf_addf(to, "  %*s", COLUMN_WIDTH, text);
}

/* Milliseconds with one digit behind the point, that a part of the runs took
 * at most. */
static void
add_time(struct buf *to, const struct histogram *h, unsigned thousandths)
{
	uint64_t	us = report_quantile(h, thousandths);
	struct buf	text = { 0 };

	buf_addf(&text, "%" PRIu64 ".%u", us / 1000,
	    (unsigned)(us % 1000 / 100));
	add_cell(to, buf_string(&text));
	buf_free(&text);
}

static void
add_chain(struct buf *to, const struct chain_stats_numbers *c, size_t width)
{
	const struct histogram	*h =
				    &c->histograms[CHAIN_STATS_HISTOGRAM_TIME];

	buf_addf(to, "%-*s", (int)width, c->name);
	for (int i = 0; i < CHAIN_STATS_COUNT; i++)
		buf_addf(to, "  %*" PRIu64, COLUMN_WIDTH, c->counters[i]);
	add_time(to, h, 500);
	add_time(to, h, 990);
	buf_addc(to, '\n');
}

void
report_chains(struct buf *to)
{
	struct chain_stats_numbers	 c;
	const struct stats_row		*rows;
	size_t				 n, width = strlen(NAME);

	for (size_t i = 0; chain_stats_read(i, &c); i++)
		width = MAX(width, strlen(c.name));
	rows = stats_rows(STATS_KIND_CHAIN_COUNTER, &n);
	buf_addf(to, "%-*s", (int)width, NAME);
	for (size_t i = 0; i < n; i++)
		add_cell(to, rows[i].name);
	add_cell(to, "median");
	add_cell(to, "99 %");
	buf_addc(to, '\n');
	for (size_t i = 0; chain_stats_read(i, &c); i++)
		add_chain(to, &c, width);
}
