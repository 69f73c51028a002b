/*
 * stats_page: the statistics page.
 */
#ifndef HTTP_STATS_PAGE_H
#define HTTP_STATS_PAGE_H

#include "http/conn.h"

/* Answers with a report in the form that the client wants.  The report is made
 * for this request and not cached. */
enum go	stats_page_reply(struct conn *);

#endif
