/*
 * trusted: opens files as root in directories where other users may write.
 */
#ifndef LIB_TRUSTED_H
#define LIB_TRUSTED_H

#include <sys/types.h>

/*
 * As open(2) of an absolute path.  For root it fails with EPERM, and a log
 * line, in two cases:
 * - A symbolic link on the path is not root's own, or stands in a directory
 *   that others may write to.
 * - A file has a second name (hard link) in a directory that is not root's
 *   alone; unless the file is the directory owner's, who alone may write to it.
 * With O_NOFOLLOW the second test is left to the caller.
 */
int	trusted_open(const char *path, int flags, mode_t mode);
/*
 * Opens the directory of an absolute path by the same rules, for any user, and
 * sets *last to the last part of path.  -1 with errno.
 */
int	trusted_directory(const char *path, const char **last);
/*
 * For root, makes the directory of an absolute path, readable for all, unless
 * it exists; only in a directory that exists and is root's alone, as /run.  An
 * error shows when the path is opened.
 */
void	trusted_make_directory(const char *path);

#endif
