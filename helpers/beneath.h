/*
 * beneath: opens a path beneath a directory, and nothing outside of it.
 *
 * The kernel confines the path (openat2) where it can.  Elsewhere this file
 * walks the path segment by segment and follows no symbolic link at all.
 * All functions may block.
 */
#ifndef HELPERS_BENEATH_H
#define HELPERS_BENEATH_H

#include <fcntl.h>

/* Non-blocking, as a FIFO may take a file's place meanwhile. */
#define BENEATH_READ	(O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
/*
 * For fstat() alone, without side effects.  Systems without O_PATH open files
 * and directories for reading, and nothing else.
 */
#ifdef O_PATH
#define BENEATH_STAT	(O_PATH | O_CLOEXEC)
#else
#define BENEATH_STAT	BENEATH_READ
#endif
/*
 * With one of the above: EXDEV in place of entering another file system.  Only
 * the kernel can do so; a walk ignores this flag.
 */
#define BENEATH_SAME_MOUNT	(1 << 30)

/*
 * A descriptor, or -1 with errno: EXDEV if the path leaves the root, ELOOP for
 * a link that must not be followed, ENOTSUP (walk only) for anything but files
 * and directories.  The path "" is the root itself; a path with a slash at its
 * end must be a directory.
 */
int	beneath_open(int root, const char *path, int flags);
/* The same, with ELOOP for every link. */
int	beneath_open_nolinks(int root, const char *path, int flags);
/* Follows all links, wherever they lead. */
int	beneath_open_unconfined(int root, const char *path, int flags);

/* Opens an entry of the directory; EXDEV: it is on another mount; ENOSYS: there
 * is no openat2. */
int	beneath_open_here(int dir, const char *name, int flags);

/* The two methods of beneath_open(); ENOSYS: there is no openat2. */
int	beneath_openat2(int root, const char *path, int flags);
int	beneath_walk(int root, const char *path, int flags);

#endif
