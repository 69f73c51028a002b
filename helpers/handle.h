/*
 * handle: O_PATH descriptors for files that main must not map, read or close,
 * since each of these may block.
 */
#ifndef HELPERS_HANDLE_H
#define HELPERS_HANDLE_H

#include <stdbool.h>

#include "helpers/job.h"

/* Whether reading the file in a job's result may block. */
bool	handle_is_needed(const struct job *);
/* Replaces the file in a job's result by a handle, if one is needed. */
void	handle_convert(struct job *);
/* Opens the file of a handle, or of any other descriptor, for reading; -1 with
 * errno. */
int	handle_open(int fd);

#endif
