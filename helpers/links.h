/*
 * links: opens a path beneath a directory, by a policy about symbolic links.
 */
#ifndef HELPERS_LINKS_H
#define HELPERS_LINKS_H

#include <stdbool.h>

#include "helpers/job.h"

/*
 * As beneath_open().  With OWNER and ALL, links may leave the root, but ".." in
 * the path itself may not.
 */
int	links_open(int root, const char *path, int flags, enum job_links);

/* The walk of OWNER for links that leave the root; public for the tests. */
int	links_walk(int root, const char *path, int flags);

#endif
