/*
 * preload: a request that fills the caches, and the names that have filled
 * them.
 *
 * The request goes through the machine as any other, with all of its body, but
 * is subject to no guard.  The response is dropped.  If a file has variants,
 * requests for them may follow on the same connection.
 *
 * A hint (http/hints) is such a request for the first chunk of a file; a path
 * with a guard refuses it.
 */
#ifndef HTTP_PRELOAD_H
#define HTTP_PRELOAD_H

#include <stdint.h>

#include "cache/hint_table.h"
#include "http/machine.h"
#include "lib/buf.h"
#include "lib/str.h"

struct preload {
	struct client_kind kind;	/* first: casts rely on it */
	/* The caller sets these two, all else begins as zero. */
	struct buf	 request;	/* its bytes, which are used up */
	struct buf	 variant_request;	/* without its last line;
						 * empty: variants are not
						 * asked for */

	int		 status;	/* 0: it ended before there was one */
	const char	*reason;
	int64_t		 bytes;		/* of the body */
	bool		 truncated;	/* the body is not complete */
	struct buf	 codings;	/* of variants that came as well */
	struct http_loop *http;		/* of a hint; NULL: this is none, or it
					 * has been noted */
	struct hint	 hint;
};

/* Sets the kind. */
void	preload_init(struct preload *);
/* Whether hints wait to be taken. */
bool	preload_has_hints(const struct http_loop *);
/* Makes it the next hint, with its listener; false: there is none now. */
bool	preload_take_hint(struct preload *, struct http_loop *,
	    size_t *listener);
/* Frees all that it owns. */
void	preload_end(struct preload *);

/* A file, or a variant of it, that a path of the cache stands for. */
struct preload_name {
	size_t		 site;		/* its number */
	struct str	 host;		/* empty, unless the path depends on
					 * it */
	struct str	 target;	/* raw */
	const char	*coding;	/* or format or language, of the
					 * variant; NULL: the file */
	unsigned	 uses;		/* recent ones */
};

/* Adds the field, without its end, that asks for a variant by its name. */
void	preload_add_field(struct buf *, const char *variant);
/* Tells of the names in some buckets from *bucket on; false: those were the
 * last.  A name is valid during the call, which must not use the caches. */
bool	preload_visit(struct http_loop *, size_t *bucket,
	    void (*tell)(void *, const struct preload_name *), void *);
/* A page, and the files that are asked for behind it. */
struct preload_list {
	size_t		 site;
	struct str	 host;		/* as of a name */
	struct str	 target;	/* raw */
	struct str	 files[HINT_FILES_MAX];	/* raw targets */
	unsigned	 n;
};

/* Tells of the lists that were learned, as preload_visit() of names. */
bool	preload_visit_lists(struct http_loop *, size_t *bucket,
	    void (*tell)(void *, const struct preload_list *), void *);
/* Adds a list to those that were learned; false: none are learned. */
bool	preload_add_list(struct http_loop *, const struct preload_list *);
/* Whether another file would displace none. */
bool	preload_has_room(struct http_loop *);

#endif
