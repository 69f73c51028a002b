/*
 * beneath: two methods to open a path that must not leave a directory.
 *
 * Must not keep any state: files may be moved between two calls, and several
 * threads call these functions.
 */
#include <sys/stat.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#ifdef SYS_openat2
#include <linux/openat2.h>
#endif

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "helpers/beneath.h"
#include "helpers/job.h"
#include "lib/io.h"

#ifdef O_PATH
#define OPEN_DIRECTORY	(O_PATH | O_DIRECTORY | O_CLOEXEC)
#else
#define OPEN_DIRECTORY	(O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#endif
#ifndef O_LARGEFILE
#define O_LARGEFILE	0		/* else libc adds it to open() */
#endif

#ifdef SYS_openat2
enum { ATTEMPTS_MAX = 32 };			/* EAGAIN: renames meanwhile */

static int
call_openat2(int root, const char *path, int flags, uint64_t resolve)
{
	int		plain = flags & ~BENEATH_SAME_MOUNT;
	struct open_how	how = {
		/* openat2() allows no other flag with O_PATH. */
		.flags = (unsigned)plain |
		    ((plain & BENEATH_STAT) == BENEATH_STAT ? 0 :
		    O_LARGEFILE),
		.resolve = resolve | (plain == flags ? 0 : RESOLVE_NO_XDEV)
	};
	long		 fd;
	int		 tries = 0;

	if (*path == '\0')
		path = ".";
	do
		fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	while (fd == -1 && (errno == EINTR ||
	    (errno == EAGAIN && ++tries < ATTEMPTS_MAX)));
	return (int)fd;
}
#else
#define RESOLVE_BENEATH		0
#define RESOLVE_NO_MAGICLINKS	0
#define RESOLVE_NO_SYMLINKS	0

static int
call_openat2(int root, const char *path, int flags, uint64_t resolve)
{
	(void)root;
	(void)path;
	(void)flags;
	(void)resolve;
	errno = ENOSYS;
	return -1;
}
#endif
#define CONFINED	(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS)

/*
 * EPERM comes from system-call filters that do not know openat2.  If it is the
 * file system's, the walk fails with it again.
 */
static bool
is_unsupported(int fd)
{
	return fd == -1 && (errno == ENOSYS || errno == EPERM);
}

int
beneath_openat2(int root, const char *path, int flags)
{
	return call_openat2(root, path, flags, CONFINED);
}

/* Cuts the next segment off the front, without empty ones and "."; NULL at the
 * end. */
static char *
next_segment(char **rest)
{
	char	*segment;

	while ((segment = strsep(rest, "/")) != NULL)
		if (*segment != '\0' && strcmp(segment, ".") != 0)
			break;
	return segment;
}

/* Asks for the type before it opens the file: opening a device has effects. */
static int
open_segment(int parent, const char *name, int flags)
{
	struct stat	st;
	int		error = 0;

	if (strcmp(name, "..") == 0)
		error = EXDEV;
	else if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		error = errno;
	else if (S_ISLNK(st.st_mode))
		error = ELOOP;
	else if ((flags & O_DIRECTORY) != 0 && !S_ISDIR(st.st_mode))
		error = ENOTDIR;
	else if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		error = ENOTSUP;
	if (error != 0) {
		errno = error;
		return -1;
	}
	return openat(parent, name, flags | O_NOFOLLOW);
}

/* Opens directory after directory; writes to the path. */
static int
walk_path(int root, char *path, int flags)
{
	char	*segment = next_segment(&path), *next;
	int	 here = root, below;

	if (segment == NULL)
		return openat(root, ".", flags);
	for (;; segment = next, here = below) {
		next = next_segment(&path);
		below = open_segment(here, segment,
		    next == NULL ? flags : OPEN_DIRECTORY);
		if (here != root)
			io_close(&here);
		if (below == -1 || next == NULL)
			return below;
	}
}

int
beneath_walk(int root, const char *path, int flags)
{
	char	copy[JOB_PATH_MAX];
	size_t	len = strlen(path);

	if (*path == '/') {
		errno = EXDEV;
		return -1;
	}
	if (len >= sizeof(copy)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(copy, path, len + 1);
	flags &= ~BENEATH_SAME_MOUNT;
	if (len > 0 && path[len - 1] == '/')
		flags |= O_DIRECTORY;
	return walk_path(root, copy, flags);
}

static int
open_confined(int root, const char *path, int flags, uint64_t resolve)
{
	int	fd = call_openat2(root, path, flags, CONFINED | resolve);

	return is_unsupported(fd) ? beneath_walk(root, path, flags) : fd;
}

int
beneath_open(int root, const char *path, int flags)
{
	return open_confined(root, path, flags, 0);
}

int
beneath_open_nolinks(int root, const char *path, int flags)
{
	return open_confined(root, path, flags, RESOLVE_NO_SYMLINKS);
}

int
beneath_open_here(int dir, const char *name, int flags)
{
	return call_openat2(dir, name, flags | BENEATH_SAME_MOUNT, 0);
}

int
beneath_open_unconfined(int root, const char *path, int flags)
{
	int	plain = flags & ~BENEATH_SAME_MOUNT, fd;

	if (plain != flags) {
		fd = call_openat2(root, path, flags, 0);
		if (!is_unsupported(fd))
			return fd;
	}
	return openat(root, *path == '\0' ? "." : path, plain);
}
