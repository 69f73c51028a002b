/*
 * setup: the world of one loop, as the owner of the loop makes it: http.c.
 */
#ifndef HTTP_SETUP_H
#define HTTP_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/clock.h"
#include "task.h"

struct addresses;		/* shared/addresses.h */
struct conf;
struct http_loop;			/* one loop's world: store, buffers, clock */
struct caches;			/* caches.h */

struct http_setup {
	const struct conf	*conf;
	struct clock		*clock;		/* the loop's */
	struct disk		 disk;		/* who takes tasks */
	/* The caches that it shares with other loops, the caller's, and later
	 * is the store's; NULL: it has its own, for so many descriptors. */
	struct caches		*caches;
	size_t			 descriptors;	/* for files kept open */
	int			 pagemap;	/* of pagemap.h, stays the
						 * caller's; 0 or -1: none */
	struct addresses	*addresses;	/* the caller's; NULL: theirs
						 * have no limits */
	/* Where access log lines go: asked for room for so many bytes, and then
	 * told how many a line has that stands there.  NULL: nowhere, or this
	 * one is lost. */
	char			*(*log_reserve)(void *, size_t most);
	void			(*log_commit)(void *, size_t);
	void			*log_context;
	/* Asks for http_tidy(); NULL: nothing is put off. */
	void			(*schedule_tidy)(void *);
	void			*tidy_context;
	/* Asks for http_verify(), from any thread; if the store is shared. */
	void			(*schedule_verify)(void *);
	void			*verify_context;
};

struct http_loop	*http_new(const struct http_setup *);
void		 http_free(struct http_loop **);	/* all connections freed */
/* Caches, a line each, to a function that takes lines. */
void		 http_report(struct http_loop *, void (*)(const char *));
void		 http_measure(const struct http_loop *);	/* gauges, counters */
/* Work that is too much for one turn of a loop: some of it; true: there is more
 * for the turns to come. */
bool		 http_tidy(struct http_loop *);
void		 http_verify(struct http_loop *);	/* passwords that waited */
/* From now on connections end with the next response; who waits for a request
 * is to be woken, as READY, to wait less. */
void		 http_drain(struct http_loop *);
void		 http_resume(struct http_loop *);	/* they need not any more */

#endif
