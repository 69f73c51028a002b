/*
 * report: all that is counted, measured and timed, in one text.
 *
 * Made in memory, from the tables, in less than a millisecond or so: it never
 * waits.  The forms:
 *
 *	text		"name value" lines, names of stats.tbl; version first.
 *			A histogram is NAME-count, -sum, -most, -median, -p99,
 *			times in seconds.  A file system's jobs are
 *			queue-NAME-queued, -held, -share.  Names stay; lines may
 *			be added.
 *	json		an object: version, counters, gauges, histograms, queues
 *	prometheus	text exposition format 0.0.4
 *	html		a page that needs nothing else
 *
 * Counters and histograms are of all mains since the start, gauges of this main
 * as it is now, and of the others of its generation as they were when they looked;
 * queues are this main's.
 */
#ifndef STATS_REPORT_H
#define STATS_REPORT_H

#include <stdbool.h>

#include "lib/buf.h"
#include "lib/str.h"

/* Id, name, media type, the same as it is sent. */
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

/* Adds it to what is in the buffer. */
void		 report_write(struct buf *, enum report_form);
/* The form of that name; false: there is none. */
bool		 report_find_form(struct str name, enum report_form *);
const char	*report_media(enum report_form);
const char	*report_type(enum report_form);	/* Content-Type */

/* Who brings all gauges up to date when there is to be a report; NULL: nobody,
 * and they are what they were. */
void		 report_set_measure(void (*measure)(void *), void *context);
/* Several threads will ask for reports: one after the other gets its own. */
void		 report_use_lock(void);

#endif
