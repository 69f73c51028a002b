/*
 * trusted: opens files for root where others may write, too.
 */
#ifndef LIB_TRUSTED_H
#define LIB_TRUSTED_H

#include <sys/types.h>

/*
 * As open(2), of a name from / on.  If we are root, a link on the way counts
 * only where root has made it, in a directory that nobody else may write to;
 * with O_NOFOLLOW never at the end.  In another's directory, what has a second
 * name elsewhere is not opened, unless it is that one's, too; with O_NOFOLLOW
 * it is for the caller to look at.  What is refused for that is told in a line
 * of the log, and errno is EPERM.
 */
int	trusted_open(const char *path, int flags, mode_t mode);
/*
 * The directory of such a name, in which the last part of it is, also given;
 * -1 with errno.  For others than root as well.
 */
int	trusted_directory(const char *path, const char **last);

#endif
