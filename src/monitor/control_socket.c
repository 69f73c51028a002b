/*
 * control_socket: binds the socket under another name, sets owner and mode,
 * listens, and then renames it.  The rename replaces a stale socket at once.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/need.h"
#include "lib/trusted.h"
#include "monitor/control_socket.h"

#define BACKLOG	64
#define NAME_SIZE	(sizeof(((struct sockaddr_un *)0)->sun_path) + \
    sizeof(CONF_CONTROL_NEW))
#define HIDDEN_UMASK	0177		/* no access before the mode is set */

static void
set_address(struct sockaddr_un *sun, const char *file)
{
	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	need(strlen(file) < sizeof(sun->sun_path));
	strcpy(sun->sun_path, file);
}

/* Whether a server listens at that socket. */
static bool
is_live(const char *file)
{
	struct sockaddr_un	sun;
	int			fd, error;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return true;	/* unknown, so it is left alone */
	set_address(&sun, file);
	error = connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == 0 ? 0 :
	    errno;
	close(fd);
	return error != ECONNREFUSED && error != ENOENT;
}

static bool
is_own(const struct control_socket *s, const char *file, const struct stat *st)
{
	return s != NULL && s->fd != -1 && strcmp(s->file, file) == 0 &&
	    s->dev == st->st_dev && s->ino == st->st_ino;
}

/* Whether the name is free, or its socket may be replaced; logs an error if
 * not. */
static bool
may_take_name(const char *file, const struct control_socket *before,
    bool take_over)
{
	struct stat	st;

	if (lstat(file, &st) == -1)
		return true;
	if (!S_ISSOCK(st.st_mode)) {
		log_errorx("%s exists and is no socket: name another file in "
		    "the conf (control)", file);
		return false;
	}
	if (take_over || is_own(before, file, &st) || !is_live(file))
		return true;
	log_errorx("another server listens at %s, or drains still: stop that "
	    "one (ampedctl -s %s stop), or name another file in the conf "
	    "(control)", file, file);
	return false;
}

/* Changes the owner through a handle, where there are handles: a process that
 * may write to the directory can put another file there at any time. */
static int
change_owner(int socket, const char *name, uid_t uid, gid_t gid)
{
#ifdef O_PATH
	(void)name;
	return fchownat(socket, "", uid, gid, AT_EMPTY_PATH);
#else
	(void)socket;
	return lchown(name, uid, gid);
#endif
}

static int
change_mode(int socket, const char *name, mode_t mode)
{
	char	handle[sizeof("/proc/self/fd/") + 3 * sizeof(int)];

	snprintf(handle, sizeof(handle), "/proc/self/fd/%d", socket);
	if (socket != -1)
		return chmod(handle, mode);
	return fchmodat(AT_FDCWD, name, mode, AT_SYMLINK_NOFOLLOW);
}

static int
set_owner_and_mode(int socket, const char *name,
    const struct conf_control *control)
{
	const struct passwd	*pw = NULL;
	const struct group	*gr = NULL;

	errno = 0;
	if ((control->owner != NULL &&
	    (pw = getpwnam(control->owner)) == NULL) ||
	    (control->group != NULL &&
	    (gr = getgrnam(control->group)) == NULL)) {
		errno = errno != 0 ? errno : ENOENT;
		return -1;
	}
	if ((pw != NULL || gr != NULL) && change_owner(socket, name,
	    pw != NULL ? pw->pw_uid : (uid_t)-1,
	    gr != NULL ? gr->gr_gid : (gid_t)-1) == -1)
		return -1;
	return change_mode(socket, name, (mode_t)control->mode);
}

/* Opens a handle of the socket that was just bound.  Returns -1 with errno if
 * another file has taken its name. */
static int
open_bound(int directory, const char *name, struct stat *st, int *handle)
{
#ifdef O_PATH
	*handle = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (*handle == -1 || fstat(*handle, st) == -1)
		return -1;
#else
	(void)handle;
	if (fstatat(directory, name, st, AT_SYMLINK_NOFOLLOW) == -1)
		return -1;
#endif
	errno = EEXIST;
	return S_ISSOCK(st->st_mode) && st->st_uid == geteuid() &&
	    st->st_nlink == 1 ? 0 : -1;
}

static void
set_hidden_name(char *name, size_t size, const char *file)
{
	snprintf(name, size, "%s" CONF_CONTROL_NEW, file);
}

/* Binds by the whole path, as bind(2) knows no directory descriptor. */
static int
bind_hidden(int fd, const char *name, int directory, const char *last)
{
	struct sockaddr_un	sun;
	struct stat		st;
	mode_t			mask;
	int			bound;

	set_address(&sun, name);
	/* A server that died before the rename has left it. */
	if (fstatat(directory, last, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISSOCK(st.st_mode))
		(void)unlinkat(directory, last, 0);
	mask = umask(HIDDEN_UMASK);
	bound = bind(fd, (struct sockaddr *)&sun, sizeof(sun));
	umask(mask);
	return bound;
}

/* Sets owner and mode, and listens.  Returns 0, or -1 with errno. */
static int
finish_socket(struct control_socket *s, const char *name,
    const struct conf_control *control, int directory, const char *last)
{
	struct stat	st = { 0 };
	int		handle = -1, done = -1;

	if (open_bound(directory, last, &st, &handle) == 0 &&
	    set_owner_and_mode(handle, name, control) == 0 &&
	    listen(s->fd, BACKLOG) == 0)
		done = 0;
	io_close(&handle);
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	return done;
}

/* Makes a socket of another name that listens.  Returns 0, or -1 with errno. */
static int
make_socket(struct control_socket *s, const char *name,
    const struct conf_control *control)
{
	const char	*last;
	int		 directory = trusted_directory(name, &last);
	int		 done = -1, error;

	if (directory == -1)
		return -1;
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd != -1 && bind_hidden(s->fd, name, directory, last) == 0) {
		done = finish_socket(s, name, control, directory, last);
		error = errno;
		if (done == -1)
			(void)unlinkat(directory, last, 0);
		errno = error;
	}
	io_close(&directory);
	return done;
}

int
control_socket_open(struct control_socket *s, const struct conf *conf,
    const struct control_socket *before, bool take_over)
{
	const struct conf_control	*control = &conf->control;
	char				 name[NAME_SIZE];

	*s = (struct control_socket){ .fd = -1 };
	if (control->file == NULL)
		return 0;
	if (!may_take_name(control->file, before, take_over))
		return -1;
	set_hidden_name(name, sizeof(name), control->file);
	trusted_make_directory(control->file);
	if (make_socket(s, name, control) == -1) {
		log_error("cannot make the socket %s (control)", control->file);
		io_close(&s->fd);
		return -1;
	}
	s->file = mem_string(control->file);
	return 0;
}

void
control_socket_publish(struct control_socket *s)
{
	char		 name[NAME_SIZE];
	const char	*from;
	int		 directory;

	if (s->fd == -1 || s->published)
		return;
	set_hidden_name(name, sizeof(name), s->file);
	directory = trusted_directory(name, &from);
	s->published = directory != -1 &&
	    renameat(directory, from, directory,
	    strrchr(s->file, '/') + 1) == 0;
	io_close(&directory);
	if (!s->published)
		log_error("cannot make the socket %s (control)", s->file);
}

static bool
is_same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool
control_socket_is_unchanged(const struct control_socket *s,
    const struct conf *a, const struct conf *b)
{
	const struct conf_control	*x = &a->control, *y = &b->control;
	struct stat			 st;

	if (s->fd == -1 || !is_same_text(x->file, y->file) ||
	    x->mode != y->mode || !is_same_text(x->owner, y->owner) ||
	    !is_same_text(x->group, y->group))
		return false;
	return lstat(s->file, &st) == 0 && is_own(s, s->file, &st);
}

void
control_socket_remove(struct control_socket *s)
{
	char		 name[NAME_SIZE];
	const char	*last;
	struct stat	 st;
	int		 directory;

	if (s->fd == -1)
		return;
	if (s->published)
		snprintf(name, sizeof(name), "%s", s->file);
	else
		set_hidden_name(name, sizeof(name), s->file);
	directory = trusted_directory(name, &last);
	if (directory != -1 &&
	    fstatat(directory, last, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == s->dev && st.st_ino == s->ino &&
	    unlinkat(directory, last, 0) == -1)
		log_warn("cannot remove %s", name);
	io_close(&directory);
	io_close(&s->fd);
	mem_drop(&s->file);
}
