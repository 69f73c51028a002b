/*
 * regular: tests a file's kind before it is opened, and again when it is open.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include "lib/regular.h"

const char *
regular_kind(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "a file";
	case S_IFDIR:
		return "a directory";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	case S_IFLNK:
		return "a link";
	default:
		return "a device";
	}
}

/* /dev/null stands for an empty file. */
static bool
is_file_or_null(const struct stat *st)
{
	struct stat	null;

	return S_ISREG(st->st_mode) || (S_ISCHR(st->st_mode) &&
	    stat("/dev/null", &null) == 0 && S_ISCHR(null.st_mode) &&
	    st->st_rdev == null.st_rdev);
}

const char *
regular_other_kind(const char *name)
{
	struct stat	st;

	return stat(name, &st) == -1 || is_file_or_null(&st) ? NULL :
	    regular_kind(st.st_mode);
}

int
regular_open(const char *name)
{
	struct stat	st;
	int		fd;

	if (regular_other_kind(name) != NULL) {
		errno = EINVAL;
		return -1;
	}
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == 0 && is_file_or_null(&st))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}
