/*
 * handle: files that main must not touch, as nobody can know whether that
 * would wait: neither mapped nor read, nor even closed.
 */
#ifndef HELPERS_HANDLE_H
#define HELPERS_HANDLE_H

#include "helpers/job.h"

/* If the file of an answer is such a one, turns it into a handle. */
void	handle_convert(struct job *);
/* A handle stands for a file; to be read, that is opened again; -1.  Any other
 * descriptor is another of the same file. */
int	handle_open(int fd);

#endif
