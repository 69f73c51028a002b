/*
 * changes: makes paths old by what has happened in watched directories.
 */
#ifndef HTTP_WATCH_CHANGES_H
#define HTTP_WATCH_CHANGES_H

struct http_loop;

/* Reads some of the events that have come.  Does nothing if no directory is
 * watched. */
void	changes_read(struct http_loop *);

#endif
