/*
 * mounts: which file system a path is on, by the path's text and the kernel's
 * table of mounts.  No function here asks a file system, so none waits for one.
 *
 * Symbolic links in a path are not followed here.  A helper that meets a link
 * to another file system reports it (helpers/job.h).
 */
#ifndef SHARED_MOUNTS_H
#define SHARED_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct conf;
struct mounts;

/* In the monitor, before there are clients: resolves symbolic links in the
 * conf's roots, which may wait for a file system. */
struct mounts	*mounts_new(const struct conf *);
void		 mounts_free(struct mounts **);
/* Reads the kernel's table again if that has changed. */
void		 mounts_refresh(struct mounts *);
/* Reads a table from a text in the form of Linux's mountinfo. */
void		 mounts_read(struct mounts *, const char *text);

/*
 * Returns the file system (st_dev) of a path beneath a root.  *mount_len is how
 * many bytes of the path lead to the mount point; 0: the path is on the root's
 * own mount.  Without a table, returns a number for each root, and sets *known
 * to false.
 */
uint64_t	 mounts_find(const struct mounts *, const char *root,
		    const char *path, bool *known, size_t *mount_len);
/* Whether the table has a file system of that number. */
bool		 mounts_has(const struct mounts *, uint64_t fs);

#endif
