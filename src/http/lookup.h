/*
 * lookup: finds out on disk what a path is.
 */
#ifndef HTTP_LOOKUP_H
#define HTTP_LOOKUP_H

#include "http/http.h"
#include "proto/why.h"

/* Bits: which bytes of a file that main may not read a lookup brings. */
enum lookup_bytes {
	LOOKUP_SMALL	= 1 << 0,	/* of a small file */
	LOOKUP_LARGE	= 1 << 1,	/* of one of a few chunks, too */
	LOOKUP_PLAIN	= 1 << 2	/* compressible or not */
};

/* Submits a lookup, or joins the pending one of this loop: a task to wait for,
 * or NULL if it was completed at once.  background: its class.  bytes: of enum
 * lookup_bytes.  follows_run: the request has waited for a run of filters. */
struct task	*lookup_start(struct http_loop *, struct path *,
		    bool background, unsigned bytes, bool follows_run);
/* The same for a path whose older answer may be used, in the background; no
 * lookup is submitted if too many are queued.  Brings no bytes: to copy them
 * could make the news of a changed file come too late. */
struct task	*lookup_refresh(struct http_loop *, struct path *);
/* Fills in a job RESOLVE for the path of a target, without variants; its texts
 * are added to the buffer. */
void		 lookup_fill_job(struct http_loop *, const struct path *,
		    struct job *, struct buf *);
/* Whether there is a pending lookup to join. */
bool		 lookup_is_pending(struct http_loop *, const struct path *);
/* The chain whose filters the pending lookup runs; NULL: none. */
const struct conf_chain *lookup_chain(struct http_loop *, const struct path *);
/* A request has waited in vain: if the pending lookup looks for a kept result
 * of filters, no other lookup does so for a minute. */
void		 lookup_pause_results(struct http_loop *, const struct path *);
/* Notes that a request has waited for the pending lookup in vain, so that no
 * other request waits. */
void		 lookup_set_late(struct http_loop *, const struct path *);
bool		 lookup_is_late(struct http_loop *, const struct path *);

#endif
