/*
 * report: all counters, gauges and histograms in one text.
 *
 * A report is made in memory and never waits.  The forms:
 *
 *	text		"name value" lines, names of stats.tbl; version first.
 *			A histogram is NAME-count, -sum, -max, -median, -p99,
 *			times in seconds.  The queue of a file system is
 *			fs-NAME-queued, -helpers, -limit.  Names of a program
 *			begin with program-NAME-, of its servers with
 *			program-NAME-server-ADDRESS-, of a chain of filters with
 *			chain-NAME-, with _ for a blank.
 *			Names stay; lines may be added.
 *	json		an object: version, counters, gauges, histograms,
 *			fs_queues, programs, chains
 *	prometheus	text exposition format 0.0.4
 *	html		a page that needs no other file
 *
 * Counters and histograms are sums of all mains since the start.  Gauges are
 * those of this main now, and those that the other mains of its generation have
 * published last.  Queues of file systems are this main's; numbers of programs
 * and chains are those of all mains (program_stats.h, chain_stats.h).
 */
#ifndef STATS_REPORT_H
#define STATS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "lib/buf.h"
#include "lib/str.h"

/* Id, name, media type, Content-Type. */
#define REPORT_FORMS(X)							\
	X(HTML, "html", "text/html", "text/html; charset=utf-8")	\
	X(JSON, "json", "application/json", "application/json")		\
	X(PROMETHEUS, "prometheus", "text/plain",			\
	    "text/plain; version=0.0.4; charset=utf-8")			\
	X(TEXT, "text", "text/plain", "text/plain; charset=utf-8")

enum report_form {
#define X(id, name, media, type) REPORT_##id,
	REPORT_FORMS(X)
#undef X
	REPORT_FORM_COUNT
};

/* Appends a report to a buffer. */
void		 report_write(struct buf *, enum report_form);
/* Appends the caches and the figures of their advice, for people. */
void		 report_caches(struct buf *);
/* Appends a table of all programs, for people; in any process that uses their
 * numbers. */
void		 report_programs(struct buf *);
/* Appends lines about one program. */
void		 report_programs_one(struct buf *, size_t program, time_t now);
/* Appends a table of all chains, likewise. */
void		 report_chains(struct buf *);
/* Finds a form by its name; false: there is none. */
bool		 report_find_form(struct str name, enum report_form *);
const char	*report_media(enum report_form);
const char	*report_type(enum report_form);	/* Content-Type */

/* Sets the function that measures all gauges before a report; NULL: none. */
void		 report_set_measure(void (*measure)(void *), void *context);
/* Makes reports safe for several threads: one report at a time. */
void		 report_use_lock(void);

#endif
