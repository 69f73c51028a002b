/*
 * filtered_lookup: lookups of files that pass through filters, and of variants
 * of the results.
 */
#ifndef HTTP_VARIANTS_FILTERED_LOOKUP_H
#define HTTP_VARIANTS_FILTERED_LOOKUP_H

#include "http/lookup_private.h"

/* Handles the file that a lookup has found: its result is the present one, or
 * a run of its filters begins. */
void		 filtered_lookup_handle_source(struct lookup *);
/* Whether no reload of its chain has come after a run has begun. */
bool		 filtered_lookup_counts(const struct lookup *);
/* Whether a variant of a result can be made, which is made of an open file.
 * False: the result is to be made anew. */
bool		 filtered_lookup_has_source(struct http_loop *,
		    const struct path *);
/* Makes the lookup that compresses a result, with these functions of its task;
 * NULL: none is needed, or none can be made now. */
struct lookup	*filtered_lookup_make_compression(struct http_loop *,
		    struct path *, void (*complete)(struct task *),
		    void (*free)(struct task *));
void		 filtered_lookup_handle_compressed(struct lookup *);
/* Releases the file that is compressed, if there is one. */
void		 filtered_lookup_release(struct file **);

#endif
