/*
 * report_private: what the forms of a report share.
 */
#ifndef STATS_REPORT_PRIVATE_H
#define STATS_REPORT_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "stats/report.h"
#include "stats/rows.h"
#include "stats/stats.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION	"unknown"
#endif

#define REPORT_SAMPLES	128

/* What was reported at some time, to plot how it has changed. */
struct report_sample {
	int64_t		at;		/* s since the start */
	uint64_t	requests, bytes;
};

struct report {
	struct stats_slot		 sum;
	const struct report_sample	*samples;	/* oldest first */
	size_t				 nsamples;
};

/* report.c: numbers in base units. */
void	report_number(struct buf *, enum stats_unit, uint64_t);
/* Of so many in a thousand it is not longer than that: us. */
uint64_t report_quantile(const struct histogram *, unsigned thousandths);

/* report_json.c, report_prometheus.c, report_html.c */
void	report_json(struct buf *, const struct report *);
void	report_prometheus(struct buf *, const struct report *);
void	report_html(struct buf *, const struct report *);

/*
 * report_plot.c: for the page, in HTML.
 */
struct report_segment {
	const char	*colour;	/* a class of the page's style */
	const char	*name;
	uint64_t	 n;
};

/* A bar of these parts, and what each of them is. */
void	report_bar(struct buf *, const struct report_segment *, size_t n);
/* How much of a whole; whole 0: nothing is known. */
void	report_meter(struct buf *, uint64_t n, uint64_t whole);
/* How often it took how long. */
void	report_histogram(struct buf *, const struct histogram *);
/* Requests and bytes a second, as far as that is known. */
void	report_history(struct buf *, const struct report *);

/* report_units.c: for people: 12,345; 1.2 MiB; 3.4 ms; 5 d 3 h. */
void	report_count(struct buf *, uint64_t);
void	report_bytes(struct buf *, uint64_t);
void	report_time(struct buf *, uint64_t us);
void	report_age(struct buf *, uint64_t seconds);
/* A text into a page. */
void	report_text(struct buf *, const char *);

#endif
