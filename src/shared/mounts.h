/*
 * mounts: which file system a path is on, by its text alone, so that asking
 * waits for none of them.
 *
 * Links are not seen here: a helper that meets one out of the file system says
 * so (helpers/job.h, stay).
 */
#ifndef SHARED_MOUNTS_H
#define SHARED_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct conf;
struct mounts;

/* In the monitor, before there are clients: follows the links in the conf's
 * roots, which may wait. */
struct mounts	*mounts_new(const struct conf *);
void		 mounts_free(struct mounts **);
/* Has the kernel's table read again if it has changed. */
void		 mounts_refresh(struct mounts *);
/* The same from a text, in the form of Linux's mountinfo. */
void		 mounts_read(struct mounts *, const char *text);

/* The file system of what is beneath a root, as st_dev has it, and how many
 * bytes of the path lead to its mount (0: the root's own); without a table one
 * number for each root, and false in known. */
uint64_t	 mounts_find(const struct mounts *, const char *root,
		    const char *path, bool *known, size_t *mount_len);
/* Whether the table has a file system of that number. */
bool		 mounts_has(const struct mounts *, uint64_t fs);

#endif
