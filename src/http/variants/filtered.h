/*
 * filtered: files that have passed through a chain of filters.
 *
 * A result has a path of its own in the path cache: the name of the file, in
 * another namespace, with the query of the request behind it.  The version of
 * the result is made of the version of the file and of all that the result
 * depends on: the chain, the query, the filters' files, and files that a filter
 * has read.
 */
#ifndef HTTP_VARIANTS_FILTERED_H
#define HTTP_VARIANTS_FILTERED_H

#include <stdbool.h>

#include "http/http.h"
#include "http/request.h"
#include "proto/why.h"

struct conn;
struct filter_run;
struct rules_place;

/* Whether the query of a request counts, and is in the name of the result. */
static inline bool
filtered_takes_query(const struct path *p)
{
	return ((const struct conf_rules *)p->rules)->chains.nparameters > 0;
}

/* Whether the name of a result, or of its variant, has a query. */
bool		 filtered_has_query(const struct path *);
/* The chain of a path's file that a job has found, of that media type; NULL:
 * none. */
const struct conf_chain *filtered_chain(const struct path *,
		    const struct job *, const char *type);
/* The chain of a result, or of a variant of one. */
const struct conf_chain *filtered_chain_of(const struct conf *,
		    const struct file *);
/* Whether the request is for the result, and not for the file itself. */
bool		 filtered_is_wanted(const struct conn *);
/* Adds the name of the result that the request is for.  Other than WHY_NONE:
 * its query is not within the bounds. */
enum why	 filtered_add_name(const struct conn *, struct buf *);
/* Adds, as terminated texts, files that the result depends on, beside the one
 * that is filtered: those of the filters, and those that the present result, or
 * else the kept one, has noted.  Returns whether it has noted any, and sets the
 * inode number of its version; 0: there is no such result. */
bool		 filtered_add_others(struct http_loop *, const struct path *,
		    struct buf *text, uint64_t *of);
/* The version of a result, except its size; sum: of these files.  Its ctime is
 * that of filtered_mark(chain, 0). */
struct job_version filtered_version(const struct path *,
		    const struct job_version *of, const struct conf_chain *,
		    uint64_t sum);
/* In place of a ctime: the chain of a result, and how many reloads of chains
 * there were when its run began. */
int64_t		 filtered_mark(const struct conf_chain *, uint64_t reloads);
/* Ms until filters that were left out have another chance. */
#define FILTERED_RENEW_MS	1000

/* Whether a result with that mark still counts: its chain has not been reloaded
 * since its run began. */
bool		 filtered_counts(int64_t mark);
/* Whether the result of the request's path must not be used: a reload of the
 * chain came after the run of the result, and before the request; or all
 * filters were left out more than FILTERED_RENEW_MS ago. */
bool		 filtered_is_unusable(const struct conn *);
/* Counts a request that gets a result, or a variant of one, without a run. */
void		 filtered_count_hit(const struct conn *);
/* Where a path is on disk, for filters that read other files. */
struct filtered_place {
	const char	*root;		/* NULL: not known */
	struct str	 uri;		/* decoded */
	size_t		 skip;		/* bytes of it that the root replaces */
};

/* Each adds variables that filters get. */
void		 filtered_add_variable(struct buf *, const char *name,
		    struct str value);
void		 filtered_add_length(struct buf *, int64_t);
void		 filtered_add_place(struct buf *,
		    const struct filtered_place *);
/* Adds all of them for the file that a job has found. */
void		 filtered_add_environment(struct buf *, const struct path *,
		    const struct rules_place *, const char *type,
		    const struct job *);

#endif
