/*
 * changes: makes paths old by what has happened in watched directories.
 */
#ifndef HTTP_WATCH_CHANGES_H
#define HTTP_WATCH_CHANGES_H

#include <stdbool.h>

struct http_loop;

/* Reads some of the events that have come, in any thread; whether there were
 * any.  Does nothing if no directory is watched. */
bool	changes_read(struct http_loop *);
/* The same before the result of a lookup is used: what the lookup has seen is
 * then known of other paths, too.  If very many have come, some are left. */
void	changes_catch_up(struct http_loop *);

#endif
