/*
 * caches: all caches of a main, and counts of its jobs.
 *
 * Several loops may share one struct caches.  A loop that is given none makes
 * its own, which has no locks.
 */
#ifndef HTTP_CACHES_H
#define HTTP_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct conf;
struct caches;
struct http_loop;

struct caches_setup {
	const struct conf	*conf;
	size_t			 descriptors;	/* for files kept open */
	int			 pagemap;	/* of pagemap.h, the caller's;
						 * 0 or -1: none */
	int			 notify;	/* of notify.h, the caller's;
						 * -1: none */
	size_t			 watches;	/* directories; 0: none */
	bool			 shared;	/* by threads */
	/* Has one of the loops call http_tidy(); called in any thread, with a
	 * cache locked.  NULL: no work is deferred. */
	void			(*schedule_tidy)(void *);
	void			*tidy_context;
};

struct caches	*caches_new(const struct caches_setup *);
/* Goes on towards the limits that the conf has now.  True: to be called again
 * in a later iteration. */
bool		 caches_approach_limits(struct caches *, const struct conf *);
/* All loops that used the caches have been freed. */
void		 caches_free(struct caches **);
/* Changes the policy if the conf leaves it to the server and there is a better
 * one; to be called about once a second, at clock ms. */
void		 caches_judge(struct caches *, int64_t now);
/* Gives the caches of a loop the policy of that name, or auto; it stays until
 * they are freed.  Adds a text about the old and the new one.  False: there is
 * no such policy, and the text says so. */
bool		 caches_set_policy(struct http_loop *, const char *name,
		    struct buf *);
/* Gauges and counters of the caches: sets them; writes them as lines. */
void		 caches_measure(const struct caches *);
void		 caches_report(const struct caches *, void (*)(const char *));

#endif
