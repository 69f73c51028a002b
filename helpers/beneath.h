/*
 * beneath: opens a path beneath a directory, and nothing outside of it.
 *
 * Two ways: the kernel confines the path itself (openat2), or we walk it,
 * segment by segment, and then no symbolic link at all may be on it.  The
 * kernel's way is taken wherever it exists and is allowed.
 */
#ifndef HELPERS_BENEATH_H
#define HELPERS_BENEATH_H

#include <fcntl.h>

/* A FIFO that takes a file's place meanwhile must not hold us. */
#define BENEATH_READ	(O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
/*
 * Enough for fstat, without any side effect.  Where there is no O_PATH, files
 * and directories are opened for reading instead, and nothing else is.
 */
#ifdef O_PATH
#define BENEATH_STAT	(O_PATH | O_CLOEXEC)
#else
#define BENEATH_STAT	BENEATH_READ
#endif
/*
 * Together with one of these: not onto another file system, EXDEV too.  Only
 * the kernel can tell before it is too late; walking does not try.
 */
#define BENEATH_SAME_MOUNT	(1 << 30)

/*
 * A descriptor, or -1 with errno: EXDEV when the path leaves the root, ELOOP
 * for a link that must not be followed; ENOTSUP (walking only) for what is
 * neither file nor directory.  A path "" is the root itself; one with a slash
 * at its end must be a directory.
 */
int	beneath_open(int root, const char *path, int flags);
/* The same, with ELOOP for any link at all. */
int	beneath_open_nolinks(int root, const char *path, int flags);
/* With links that lead wherever they like. */
int	beneath_open_unconfined(int root, const char *path, int flags);

/* The two ways by themselves; the first is ENOSYS where there is none. */
int	beneath_openat2(int root, const char *path, int flags);
int	beneath_walk(int root, const char *path, int flags);

#endif
