/*
 * report_programs: the numbers of programs as text for people, which ampedctl
 * prints.
 */
#include <sys/param.h>

#include <inttypes.h>
#include <string.h>

#include "stats/report_private.h"

#define NAME	"name"

/* A column of the table: its head, and the number of a program; of times, ms
 * that 99 % of them took at most. */
static const struct column {
	const char	*head;
	enum stats_kind	 kind;
	size_t		 row;		/* of that kind */
} columns[] = {
	{ "busy", STATS_KIND_PROGRAM_GAUGE, PROGRAM_STATS_GAUGE_BUSY },
	{ "limit", STATS_KIND_PROGRAM_GAUGE, PROGRAM_STATS_GAUGE_LIMIT },
	{ "queued", STATS_KIND_PROGRAM_GAUGE, PROGRAM_STATS_GAUGE_QUEUED },
	{ "procs", STATS_KIND_PROGRAM_GAUGE, PROGRAM_STATS_GAUGE_PROCESSES },
	{ "requests", STATS_KIND_PROGRAM_COUNTER, PROGRAM_STATS_REQUESTS },
	{ "failed", STATS_KIND_PROGRAM_COUNTER, PROGRAM_STATS_FAILED },
	{ "late", STATS_KIND_PROGRAM_COUNTER, PROGRAM_STATS_LATE },
	{ "refused", STATS_KIND_PROGRAM_COUNTER, PROGRAM_STATS_REFUSED },
	{ "wait", STATS_KIND_PROGRAM_HISTOGRAM, PROGRAM_STATS_HISTOGRAM_WAIT },
	{ "answer", STATS_KIND_PROGRAM_HISTOGRAM,
	    PROGRAM_STATS_HISTOGRAM_ANSWER },
};

#define NCOLUMNS	(sizeof(columns) / sizeof(columns[0]))

/* Milliseconds with one digit behind the point. */
static void
add_ms(struct buf *to, uint64_t us)
{
	buf_addf(to, "%" PRIu64 ".%u", us / 1000,
	    (unsigned)(us % 1000 / 100));
}

/*
 * All
 */

static void
write_cell(struct buf *to, const struct column *c,
    const struct program_stats_numbers *p)
{
	to->len = 0;
	switch (c->kind) {
	case STATS_KIND_PROGRAM_GAUGE:
		buf_addf(to, "%" PRIu64, p->gauges[c->row]);
		break;
	case STATS_KIND_PROGRAM_COUNTER:
		buf_addf(to, "%" PRIu64, p->counters[c->row]);
		break;
	default:
		add_ms(to, report_quantile(&p->histograms[c->row], 990));
		break;
	}
}

/* Sets the widths of the names, and of the columns behind them. */
static void
measure_columns(size_t widths[1 + NCOLUMNS])
{
	struct program_stats_numbers	p;
	struct buf			cell = { 0 };

	widths[0] = strlen(NAME);
	for (size_t k = 0; k < NCOLUMNS; k++)
		widths[1 + k] = strlen(columns[k].head);
	for (size_t i = 0; program_stats_read(i, &p); i++) {
		widths[0] = MAX(widths[0], strlen(p.name));
		for (size_t k = 0; k < NCOLUMNS; k++) {
			write_cell(&cell, &columns[k], &p);
			widths[1 + k] = MAX(widths[1 + k], cell.len);
		}
	}
	buf_free(&cell);
}

void
report_programs(struct buf *to)
{
	size_t				widths[1 + NCOLUMNS];
	struct program_stats_numbers	p;
	struct buf			cell = { 0 };

	measure_columns(widths);
	buf_addf(to, "%-*s", (int)widths[0], NAME);
	for (size_t k = 0; k < NCOLUMNS; k++)
		buf_addf(to, "  %*s", (int)widths[1 + k], columns[k].head);
	buf_addc(to, '\n');
	for (size_t i = 0; program_stats_read(i, &p); i++) {
		buf_addf(to, "%-*s", (int)widths[0], p.name);
		for (size_t k = 0; k < NCOLUMNS; k++) {
			write_cell(&cell, &columns[k], &p);
			buf_addf(to, "  %*s", (int)widths[1 + k],
			    buf_string(&cell));
		}
		buf_addc(to, '\n');
	}
	buf_free(&cell);
}

/*
 * One
 */

static void
add_number(struct buf *to, const char *before, uint64_t n, const char *behind)
{
	buf_adds(to, before);
	report_count(to, n);
	buf_adds(to, behind);
}

static void
add_processes(struct buf *to, const struct program_stats_numbers *p)
{
	const uint64_t	*n = p->counters, *g = p->gauges;

	add_number(to, "processes ", g[PROGRAM_STATS_GAUGE_PROCESSES], ": ");
	add_number(to, "idle ", g[PROGRAM_STATS_GAUGE_IDLE], ", ");
	add_number(to, "outdated ", g[PROGRAM_STATS_GAUGE_OUTDATED], "; ");
	add_number(to, "started ", n[PROGRAM_STATS_STARTED], ", ");
	add_number(to, "killed ", n[PROGRAM_STATS_KILLED], "\n");
}

static void
add_times(struct buf *to, const char *name, const struct histogram *h)
{
	buf_addf(to, "%-10s", name);
	add_ms(to, report_quantile(h, 500));
	buf_adds(to, " ms at most for a half of them, ");
	add_ms(to, report_quantile(h, 990));
	buf_adds(to, " ms for 99 %, ");
	add_ms(to, h->max);
	buf_adds(to, " ms for the longest\n");
}

static void
add_server(struct buf *to, size_t program, size_t server, time_t now)
{
	uint64_t	gauges[PROGRAM_STATS_SERVER_COUNT];
	uint64_t	since;

	buf_addf(to, "server    %s: ",
	    program_stats_read_server(program, server, gauges));
	add_number(to, "", gauges[PROGRAM_STATS_SERVER_CONNECTIONS],
	    " connections");
	since = gauges[PROGRAM_STATS_SERVER_REFUSED_SINCE];
	if (since != 0) {
		buf_adds(to, "; has accepted none for ");
		report_age(to, (uint64_t)now > since ?
		    (uint64_t)now - since : 0);
	}
	buf_addc(to, '\n');
}

void
report_programs_one(struct buf *to, size_t program, time_t now)
{
	struct program_stats_numbers	 p;
	const uint64_t			*n = p.counters, *g = p.gauges;

	if (!program_stats_read(program, &p))
		return;
	add_number(to, "requests  ", n[PROGRAM_STATS_REQUESTS], ": ");
	add_number(to, "answered ", n[PROGRAM_STATS_ANSWERED], ", ");
	add_number(to, "failed ", n[PROGRAM_STATS_FAILED], ", ");
	add_number(to, "late ", n[PROGRAM_STATS_LATE], ", ");
	add_number(to, "refused ", n[PROGRAM_STATS_REFUSED], ", ");
	add_number(to, "left ", n[PROGRAM_STATS_LEFT], "\n");
	add_number(to, "now       ", g[PROGRAM_STATS_GAUGE_BUSY], " busy of ");
	add_number(to, "", g[PROGRAM_STATS_GAUGE_LIMIT], ", ");
	add_number(to, "", g[PROGRAM_STATS_GAUGE_QUEUED], " queued\n");
	if (p.nservers == 0)
		add_processes(to, &p);
	add_times(to, "wait", &p.histograms[PROGRAM_STATS_HISTOGRAM_WAIT]);
	add_times(to, "answer", &p.histograms[PROGRAM_STATS_HISTOGRAM_ANSWER]);
	buf_adds(to, "bodies    ");
	report_bytes(to, n[PROGRAM_STATS_SPOOLED]);
	buf_addc(to, '\n');
	for (size_t i = 0; i < p.nservers; i++)
		add_server(to, program, i, now);
}
