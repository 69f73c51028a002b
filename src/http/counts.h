/*
 * counts: what the server has counted, as the answer to a request.
 */
#ifndef HTTP_COUNTS_H
#define HTTP_COUNTS_H

#include "http/conn.h"

/* In the form that the client wants; it is made now, and nobody keeps it. */
enum go	counts_take(struct conn *);

#endif
