/*
 * explain_path: which part of a path is to blame for a job's error, in words.
 *
 * It looks again, as the user that it runs as, and may block: for people who
 * ask, not for requests.
 */
#ifndef HELPERS_EXPLAIN_PATH_H
#define HELPERS_EXPLAIN_PATH_H

#include "helpers/job.h"
#include "lib/buf.h"

/* Of a RESOLVE or LIST that has been answered: "/path/part is ...", or nothing
 * if no part is. */
void	explain_path(const struct job *, struct buf *);

#endif
