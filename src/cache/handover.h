/*
 * handover: descriptors of large files that others close, as the last close of
 * a file may wait for the disk, and ranges of files that the system is to drop
 * from its cache before that.
 */
#ifndef CACHE_HANDOVER_H
#define CACHE_HANDOVER_H

#include "cache/file.h"

/* The functions but the last one are called under the lock of the files. */

/* Whether the system may have pages of the file that it is not to keep. */
bool	handover_gives_back(const struct file *);
/* Has a descriptor closed, and the range given back before. */
void	handover_fd(struct file_cache *, int fd, const struct job_range *);
/* Has a range of an open file given back, if handover_gives_back(), unless too
 * many descriptors wait.  What a process has mapped stays. */
void	handover_range(struct file *, int64_t offset, uint64_t length);
/* Passes on the descriptors that wait for that, with this context. */
void	handover_flush(struct file_cache *, void *context);

#endif
