/*
 * report_private: functions that the forms of a report share.
 */
#ifndef STATS_REPORT_PRIVATE_H
#define STATS_REPORT_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "stats/chain_stats.h"
#include "stats/program_stats.h"
#include "stats/report.h"
#include "stats/rows.h"
#include "stats/stats.h"

#define REPORT_SAMPLES	128

/* Numbers of an earlier report, for the plots of the page. */
struct report_sample {
	int64_t		at;		/* s since the start */
	uint64_t	requests, bytes;
};

struct report {
	struct stats_slot		 sum;
	uint64_t			 gauges[STATS_GAUGE_COUNT];
	const struct report_sample	*samples;	/* oldest first */
	size_t				 nsamples;
	const struct program_stats_numbers *programs;	/* by their number */
	size_t				 nprograms;
	const struct chain_stats_numbers *chains;	/* by their place */
	size_t				 nchains;
};

/* report_json.c, report_prometheus.c, report_html.c */
void	report_json(struct buf *, const struct report *);
void	report_prometheus(struct buf *, const struct report *);
void	report_html(struct buf *, const struct report *);

/* report_advice.c: a text, and a part of the page. */
void	report_advice(struct buf *, const struct report *);
void	report_advice_html(struct buf *, const struct report *);

/*
 * report_plot.c: plots for the page, in HTML.
 */
struct report_segment {
	const char	*colour;	/* a class of the page's style */
	const char	*name;
	uint64_t	 n;
};

/* A bar of n segments with a legend. */
void	report_bar(struct buf *, const struct report_segment *, size_t n);
/* A ratio as a meter; whole 0: a dash. */
void	report_meter(struct buf *, uint64_t n, uint64_t whole);
/* A bar chart of a histogram. */
void	report_histogram(struct buf *, const struct histogram *);
/* Curves of requests and bytes a second, out of the samples. */
void	report_history(struct buf *, const struct report *);

/* report_units.c: numbers for people: 12,345; 1.2 MiB; 3.4 ms; 5 d 3 h. */
void	report_count(struct buf *, uint64_t);
void	report_bytes(struct buf *, uint64_t);
void	report_time(struct buf *, uint64_t us);
void	report_age(struct buf *, uint64_t seconds);
/* A number in base units. */
void	report_number(struct buf *, enum stats_unit, uint64_t);
/* An upper bound of a quantile, us; thousandths: 990 for p99. */
uint64_t report_quantile(const struct histogram *, unsigned thousandths);
/* A text, escaped for HTML. */
void	report_text(struct buf *, const char *);
/* A visible text in quotes, as JSON and the labels of Prometheus have it. */
void	report_quoted(struct buf *, const char *);

#endif
