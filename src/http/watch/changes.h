/*
 * changes: makes paths old by what has happened in watched directories.
 *
 * The functions do nothing if no directory is watched.
 */
#ifndef HTTP_WATCH_CHANGES_H
#define HTTP_WATCH_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

struct http_loop;
struct path;

/* Reads the events that have come. */
void	changes_read(struct http_loop *);
/* Does a part of what is not urgent; true: some is left. */
bool	changes_tidy(struct http_loop *);
/* The time that counts for an answer of that time, while changes have not yet
 * been noted at all paths. */
int64_t	changes_time(const struct http_loop *, const struct path *,
	    int64_t checked_at);
/* The time of an answer that is to be looked at again: clock ms. */
int64_t	changes_old(const struct http_loop *);

#endif
