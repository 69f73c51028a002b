/*
 * location: the field Location of a redirect.
 */
#ifndef HTTP_LOCATION_H
#define HTTP_LOCATION_H

#include "http/conn.h"

/* Adds the field to the head in http->work, for a path that is a directory or
 * a redirect.  The query of the request is kept. */
void	location_add(struct conn *);

#endif
