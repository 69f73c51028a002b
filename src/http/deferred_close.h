/*
 * deferred_close: has helpers close files, as the last close of a file may
 * block.
 */
#ifndef HTTP_DEFERRED_CLOSE_H
#define HTTP_DEFERRED_CLOSE_H

#include "helpers/job.h"

/* Of the descriptors for files one in so many may wait for its close. */
#define DEFERRED_CLOSE_SHARE	4

/* Has fd closed by a task that no connection waits for, which first gives back
 * the range; closes it at once if too many wait already.  Parts of files are
 * given back in the background, while half of the places are free.  http: a
 * struct http_loop.  The close function of a file cache. */
void	deferred_close_fd(void *http, int fd, const struct job_range *);

#endif
