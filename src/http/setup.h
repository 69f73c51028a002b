/*
 * setup: the context of one loop, as the owner of the loop makes it (http.c).
 */
#ifndef HTTP_SETUP_H
#define HTTP_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend.h"
#include "lib/clock.h"
#include "task.h"

struct addresses;		/* shared/addresses.h */
struct conf;
struct http_loop;		/* http.h */
struct caches;			/* caches.h */

struct http_setup {
	const struct conf	*conf;
	struct clock		*clock;		/* the loop's */
	struct disk		 disk;		/* takes tasks */
	struct backends		 backends;	/* starts programs; start NULL:
						 * there are none */
	/* Caches that the loop shares with others; the caller frees them.
	 * NULL: the loop makes its own, of so many descriptors. */
	struct caches		*caches;
	size_t			 descriptors;	/* for files kept open */
	int			 pagemap;	/* of pagemap.h, the caller's;
						 * 0 or -1: none */
	int			 notify;	/* see caches.h */
	size_t			 watches;	/* see caches.h */
	struct addresses	*addresses;	/* the caller's; NULL: no
						 * limits of addresses */
	struct addresses *const *limiters;	/* the caller's */
	/* The access log.  log_reserve() returns room for a line of at most so
	 * many bytes, or NULL: this line is lost.  log_commit() says how many
	 * bytes the line has.  log_reserve NULL: no log. */
	char			*(*log_reserve)(void *, size_t most);
	void			(*log_commit)(void *, size_t);
	void			*log_context;
	/* Has http_tidy() called.  NULL: no work is deferred.  Shared caches
	 * have a function of their own (caches.h). */
	void			(*schedule_tidy)(void *);
	void			*tidy_context;
	/* Has http_verify() called, from any thread; for shared caches. */
	void			(*schedule_verify)(void *);
	void			*verify_context;
};

struct http_loop *http_new(const struct http_setup *);
/* All sessions of the loop have been freed. */
void		 http_free(struct http_loop **);
/* Passes lines about the caches to a function. */
void		 http_report(struct http_loop *, void (*)(const char *));
/* Sets gauges and counters of the caches. */
void		 http_measure(const struct http_loop *);
/* Does a part of work that is too long for one iteration; true: some is left
 * for later iterations. */
bool		 http_tidy(struct http_loop *);
/* Reads what has changed in watched directories. */
bool		 http_read_changes(struct http_loop *);	/* any? */
/* Submits passwords that waited for a free helper. */
void		 http_verify(struct http_loop *);
/* From now on each connection ends with its next response.  The caller wakes
 * sessions that wait for a request, as READY, so that they wait less. */
void		 http_drain(struct http_loop *);
void		 http_resume(struct http_loop *);	/* ends a drain */
/* Has so many connections end with their next response, so that their clients
 * come again, to another main. */
void		 http_send_away(struct http_loop *, size_t connections);
/* Goes on towards the limits of caches that the conf has now, with so many
 * watched directories.  True: to be called again in a later iteration. */
bool		 http_approach_limits(struct http_loop *, size_t watches);
/* How many responses machine_break_off() has found, in all loops that share the
 * caches. */
size_t		 http_count_broken_off(const struct http_loop *);

#endif
