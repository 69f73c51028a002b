/*
 * stored: results of filters that helpers keep in a directory, so that they
 * outlive the caches.  The key of a result is made of all that it depends on.
 */
#ifndef HTTP_VARIANTS_STORED_H
#define HTTP_VARIANTS_STORED_H

#include <stdbool.h>
#include <stdint.h>

#include "helpers/job.h"
#include "http/http.h"
#include "lib/buf.h"
#include "lib/str.h"

struct conf_chain;
struct dependencies_made;
struct file;

/* Adds the key of a result: the version of the file, the chain with all of its
 * programs, a sum of the versions of their files, and their variables. */
void		 stored_add_key(struct buf *, const struct job_version *,
		    const struct conf_chain *, uint64_t sum,
		    struct str environment);
/* Makes a job that looks for a result; false: the conf has no directory for
 * results, or the key is too long. */
bool		 stored_fill_job(struct job *, const struct http_loop *,
		    const struct conf_chain *, struct str key);
/* Takes over the result that such a job has found. */
void		 stored_take(struct job *, struct dependencies_made *);
/* Logs why a result cannot be looked for, or be kept. */
void		 stored_log(const struct http_loop *, const char *what,
		    int error);
/* Has a helper keep a result of a run, with its key, in the background. */
void		 stored_keep(struct http_loop *, const struct conf_chain *,
		    struct file *, const struct dependencies_made *);

#endif
