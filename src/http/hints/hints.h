/*
 * hints: learns which files are asked for behind a page, and has them brought
 * into the caches when the page comes up cold.
 *
 * Only a request that waits for the disk gets here.  A hint is brought in by a
 * request that main makes to itself (http/preload.h): what refuses a client's
 * request refuses a hint as well.
 */
#ifndef HTTP_HINTS_HINTS_H
#define HTTP_HINTS_HINTS_H

#include "cache/hint_table.h"
#include "http/conn.h"

struct hints;

/* NULL: the conf wants none. */
struct hints	*hints_new(const struct conf *, struct caches *);
void		 hints_free(struct hints **);
/* Finds what was used, and sets the counters. */
void		 hints_measure(const struct caches *);
/* As hint_table_visit(), of lists that were learned. */
bool		 hints_visit(const struct caches *, size_t *bucket,
		    void (*tell)(void *, const struct hint_list *), void *);
/* As hint_table_restore(); false: no lists are learned. */
bool		 hints_restore(const struct caches *,
		    const struct hint_list *);
/* As hints_note_wait(), for the first wait of a request. */
COLD void	 hints_note_first_wait(struct conn *);
/* Whether files wait to be brought in. */
bool		 hints_wait(const struct caches *);
/* Takes the next file to be brought in; false: there is none now. */
bool		 hints_next(struct http_loop *, struct hint *);
/* The request for that file has ended; c NULL: before it had an answer. */
void		 hints_end(struct http_loop *, const struct hint *,
		    const struct conn *c);

/* Notes that a request is about to wait for the disk.  Before the wait, as its
 * head is still there.  joins: for a task that is another's; such a wait of a
 * hint does not count, as the hint has brought nothing in. */
static inline void
hints_note_wait(struct conn *c, bool joins)
{
	if (!c->request->disk.waited &&
	    !(joins && session_is_background(c->session)))
		hints_note_first_wait(c);
}

#endif
