/*
 * location: where a redirect leads.
 */
#ifndef HTTP_LOCATION_H
#define HTTP_LOCATION_H

#include "http/conn.h"

/* Adds the field Location for the path in hand, a DIRECTORY or a REDIRECT, to
 * the head in http->work.  The query is kept. */
void	location_add(struct conn *);

#endif
