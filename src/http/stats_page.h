/*
 * stats_page: what the server has counted, as the answer to a request.
 */
#ifndef HTTP_STATS_PAGE_H
#define HTTP_STATS_PAGE_H

#include "http/conn.h"

/* In the form that the client wants; it is made now, and nobody keeps it. */
enum go	stats_page_reply(struct conn *);

#endif
