/*
 * links: opens a path beneath a directory, by a policy about symbolic links.
 */
#ifndef HELPERS_LINKS_H
#define HELPERS_LINKS_H

#include <stdbool.h>

#include "helpers/job.h"

/*
 * As beneath_open().  With OWNER and ALL links may lead out of the root, the
 * path itself never does.
 */
int	links_open(int root, const char *path, int flags, enum job_links);

/* OWNER, where a link leaves the root: by itself, for the tests. */
int	links_walk(int root, const char *path, int flags);

#endif
