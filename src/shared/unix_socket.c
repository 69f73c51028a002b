/*
 * unix_socket: bind(2) knows no directory descriptor, so a socket is bound by
 * its whole name, and then looked at in the directory that was found before.
 */
#include <sys/socket.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/need.h"
#include "lib/trusted.h"
#include "shared/unix_socket.h"

#define HIDDEN_UMASK	0177		/* no access before the mode is set */

void
unix_socket_address(struct sockaddr_un *sun, const char *file)
{
	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	need(strlen(file) < sizeof(sun->sun_path));
	strcpy(sun->sun_path, file);
}

bool
unix_socket_find(const char *file, struct unix_socket_id *id)
{
	struct stat	st;

	*id = (struct unix_socket_id){ 0 };
	if (lstat(file, &st) == -1 || !S_ISSOCK(st.st_mode))
		return false;
	*id = (struct unix_socket_id){ st.st_dev, st.st_ino };
	return true;
}

bool
unix_socket_is_live(const char *file)
{
	struct sockaddr_un	sun;
	int			fd, error;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return true;	/* unknown, so it is left alone */
	unix_socket_address(&sun, file);
	error = connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == 0 ? 0 :
	    errno;
	close(fd);
	return error != ECONNREFUSED && error != ENOENT;
}

/* Changes the owner through a handle, where there are handles: a process that
 * may write to the directory can put another file there at any time. */
static int
change_owner(int handle, const char *name, uid_t uid, gid_t gid)
{
#ifdef O_PATH
	(void)name;
	return fchownat(handle, "", uid, gid, AT_EMPTY_PATH);
#else
	(void)handle;
	return lchown(name, uid, gid);
#endif
}

static int
change_mode(int handle, const char *name, mode_t mode)
{
	char	path[sizeof("/proc/self/fd/") + 3 * sizeof(int)];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
	if (handle != -1)
		return chmod(path, mode);
	return fchmodat(AT_FDCWD, name, mode, AT_SYMLINK_NOFOLLOW);
}

static int
change_access(int handle, const char *name,
    const struct unix_socket_access *access)
{
	const struct passwd	*pw = NULL;
	const struct group	*gr = NULL;

	errno = 0;
	if ((access->owner != NULL &&
	    (pw = getpwnam(access->owner)) == NULL) ||
	    (access->group != NULL &&
	    (gr = getgrnam(access->group)) == NULL)) {
		errno = errno != 0 ? errno : ENOENT;
		return -1;
	}
	if ((pw != NULL || gr != NULL) && change_owner(handle, name,
	    pw != NULL ? pw->pw_uid : (uid_t)-1,
	    gr != NULL ? gr->gr_gid : (gid_t)-1) == -1)
		return -1;
	return change_mode(handle, name, access->mode);
}

/* Opens a handle of a socket.  Returns -1 with errno if its name leads to
 * another kind of file. */
static int
open_handle(int directory, const char *last, struct stat *st, int *handle)
{
#ifdef O_PATH
	*handle = openat(directory, last, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (*handle == -1 || fstat(*handle, st) == -1)
		return -1;
#else
	(void)handle;
	if (fstatat(directory, last, st, AT_SYMLINK_NOFOLLOW) == -1)
		return -1;
#endif
	errno = EEXIST;
	return S_ISSOCK(st->st_mode) ? 0 : -1;
}

static bool
is_same_file(const struct stat *st, struct unix_socket_id id)
{
	return st->st_dev == id.dev && st->st_ino == id.ino;
}

/* Binds by the whole name, in place of a socket of that name. */
static int
bind_name(int fd, const char *file, int directory, const char *last)
{
	struct sockaddr_un	sun;
	struct stat		st;
	mode_t			mask;
	int			bound;

	unix_socket_address(&sun, file);
	if (fstatat(directory, last, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISSOCK(st.st_mode))
		(void)unlinkat(directory, last, 0);
	mask = umask(HIDDEN_UMASK);
	bound = bind(fd, (struct sockaddr *)&sun, sizeof(sun));
	umask(mask);
	return bound;
}

/* Sets mode and owner of a bound socket, and listens; 0, or -1 with errno. */
static int
finish_socket(int fd, const char *file, int directory, const char *last,
    const struct unix_socket_access *access, int backlog,
    struct unix_socket_id *id)
{
	struct stat	st = { 0 };
	int		handle = -1, done = -1;

	if (open_handle(directory, last, &st, &handle) == 0 &&
	    st.st_uid == geteuid() && st.st_nlink == 1 &&
	    change_access(handle, file, access) == 0 &&
	    listen(fd, backlog) == 0)
		done = 0;
	io_close(&handle);
	*id = (struct unix_socket_id){ st.st_dev, st.st_ino };
	return done;
}

/* Keeps errno. */
static void
close_fd(int *fd)
{
	int	error = errno;

	io_close(fd);
	errno = error;
}

int
unix_socket_listen(const char *file, const struct unix_socket_access *access,
    int backlog, struct unix_socket_id *id)
{
	const char	*last;
	int		 directory = trusted_directory(file, &last), fd, error;

	if (directory == -1)
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1 || bind_name(fd, file, directory, last) == -1)
		close_fd(&fd);
	else if (finish_socket(fd, file, directory, last, access, backlog,
	    id) == -1) {
		error = errno;
		(void)unlinkat(directory, last, 0);
		errno = error;
		close_fd(&fd);
	}
	close_fd(&directory);
	return fd;
}

int
unix_socket_set_access(const char *file, struct unix_socket_id id,
    const struct unix_socket_access *access)
{
	const char	*last;
	struct stat	 st;
	int		 directory = trusted_directory(file, &last);
	int		 handle = -1, done = -1;

	if (directory != -1 &&
	    open_handle(directory, last, &st, &handle) == 0) {
		errno = ENOENT;
		done = is_same_file(&st, id) ?
		    change_access(handle, file, access) : -1;
	}
	close_fd(&handle);
	close_fd(&directory);
	return done;
}

int
unix_socket_remove(const char *file, struct unix_socket_id id)
{
	const char	*last;
	struct stat	 st;
	int		 directory = trusted_directory(file, &last), done = 0;

	if (directory == -1)
		return -1;
	if (fstatat(directory, last, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    is_same_file(&st, id))
		done = unlinkat(directory, last, 0);
	close_fd(&directory);
	return done;
}
