/*
 * lookup: finds out on disk what a path is.
 */
#ifndef HTTP_LOOKUP_H
#define HTTP_LOOKUP_H

#include "http/http.h"
#include "proto/why.h"

/* Starts it: the task to wait for, NULL if it was done in place.  It is the
 * path's, for others to join, unless each is to have a look of its own, as with
 * a shared store. */
struct task	*lookup_start(struct http_loop *, struct path *);
/* Whether there is one to join. */
bool lookup_is_pending(const struct http_loop *, const struct path *);
/* Starts one that nobody waits for, if that is not under way already and there
 * are not too many such; true: it may have been done, in place. */
bool		 lookup_refresh(struct http_loop *, struct path *);
/* The reason for a refusal that an errno of the disk is. */
enum why	 lookup_why(int error);
/* There was no answer, but there may be one after some time. */
bool		 lookup_is_transient(int error);

#endif
