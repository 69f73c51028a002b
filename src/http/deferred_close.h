/*
 * deferred_close: files that helpers close, since the last close of one may
 * take long.
 */
#ifndef HTTP_DEFERRED_CLOSE_H
#define HTTP_DEFERRED_CLOSE_H

#include "helpers/job.h"

/* Of the descriptors for files, one in so many may be on its way. */
#define DEFERRED_CLOSE_SHARE	4

/* The give function of a file cache; context: a struct http_loop.  Closes in place
 * where too many are on their way. */
void	deferred_close_fd(void *http, int fd, const struct job_version *);

#endif
