/*
 * explain_path: which component of a path causes a job's error, in words.
 *
 * The path is examined again, as the user of this process, which may block: for
 * amped -u and ampedctl, not for requests.
 */
#ifndef HELPERS_EXPLAIN_PATH_H
#define HELPERS_EXPLAIN_PATH_H

#include "helpers/job.h"
#include "lib/buf.h"

/* Appends the cause of the error of a RESOLVE or LIST that has been done, as
 * in "/path/part is ...", or nothing if no component causes it. */
void	explain_path(const struct job *, struct buf *);

#endif
