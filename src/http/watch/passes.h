/*
 * passes: go over all paths, a part in each call, to make old what hangs on
 * waypoints that have changed or leave, and to find directories in use.
 *
 * The functions do nothing if no directory is watched.
 */
#ifndef HTTP_WATCH_PASSES_H
#define HTTP_WATCH_PASSES_H

#include <stdbool.h>
#include <stdint.h>

struct http_loop;
struct path;

/* Begins a pass, or has another one follow; the waypoints are locked. */
void	passes_begin(struct http_loop *);
/* Notes what time it is, for the same callers. */
void	passes_set_time(struct http_loop *);
/* Does a part of what is not urgent; true: some is left. */
bool	passes_tidy(struct http_loop *);
/* The time that counts for an answer of the time checked_at, while changes have
 * not yet been noted at all paths. */
int64_t	passes_time(const struct http_loop *, const struct path *,
	    int64_t checked_at);
/* The time of an answer that is to be looked at again: clock ms. */
int64_t	passes_old(const struct http_loop *);

#endif
