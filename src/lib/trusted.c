/*
 * trusted: a name is walked from its top, a part at a time, each in the
 * directory that the ones before have led to; so nobody can change the way
 * behind us.
 *
 * Links in /proc are the kernel's, and lead where no text of theirs says:
 * /dev/stdout goes over one.
 */
#include <sys/stat.h>
#ifdef __linux__
#include <sys/vfs.h>

#include <linux/magic.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/log.h"
#include "lib/trusted.h"

#define LINKS_MAX	40		/* as the kernel has it */
#ifdef O_PATH
#define DIR_FLAGS		(O_PATH | O_DIRECTORY | O_CLOEXEC)
#else
#define DIR_FLAGS		(O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#endif

struct walk {
	const char	*path;		/* as it was asked for */
	int		 dir;		/* a directory */
	bool		 follow;	/* a link at the end, too */
	int		 links;		/* gone over */
	char		 rest[PATH_MAX];	/* what is to be walked */
	char		 name[NAME_MAX + 1];	/* the part in question */
};

/* Whether nobody but root can have put something into it. */
static bool
is_root_only(const struct stat *directory)
{
	return directory->st_uid == 0 &&
	    (directory->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool
is_proc(int directory)
{
#ifdef __linux__
	struct statfs	fs;

	return fstatfs(directory, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
#else
	(void)directory;
	return false;
#endif
}

static int
refuse_link(const struct walk *w)
{
	log_errorx("%s is not opened: %s in it is a link that somebody else "
	    "than root can have made; remove it, or have root make it, in a "
	    "directory that only root may write to", w->path, w->name);
	errno = EPERM;
	return -1;
}

static int
refuse_name(const struct walk *w)
{
	log_errorx("%s is not opened: it has another name, too, and somebody "
	    "else than root can have given it this one; remove it, and a new "
	    "file is made", w->path);
	errno = EPERM;
	return -1;
}

/* Cuts the next part off the rest; false: it is too long. */
static bool
next_part(struct walk *w)
{
	char	*from = w->rest + strspn(w->rest, "/");
	size_t	 len = strcspn(from, "/");

	if (len >= sizeof(w->name)) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(w->name, from, len);
	w->name[len] = '\0';
	memmove(w->rest, from + len, strlen(from + len) + 1);
	return true;
}

static int
move_to(struct walk *w, int directory)
{
	if (directory == -1)
		return -1;
	io_close(&w->dir);
	w->dir = directory;
	return 0;
}

/* What a link says is walked in place of its name. */
static int
follow_link(struct walk *w)
{
	char	text[PATH_MAX];
	ssize_t	n = readlinkat(w->dir, w->name, text, sizeof(text));

	if (n == -1)
		return -1;
	if (++w->links > LINKS_MAX || n == 0) {
		errno = ELOOP;
		return -1;
	}
	if ((size_t)n + strlen(w->rest) >= sizeof(text)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(text + n, w->rest);
	strcpy(w->rest, text);
	return text[0] == '/' ? move_to(w, open("/", DIR_FLAGS)) : 0;
}

static int
check_link(struct walk *w, const struct stat *link)
{
	struct stat	directory;

	if (fstat(w->dir, &directory) == -1)
		return -1;
	return geteuid() != 0 || (is_root_only(&directory) &&
	    link->st_uid == 0) ? follow_link(w) :
	    refuse_link(w);
}

/* A part with others behind it: 0, or -1 with errno. */
static int
enter_part(struct walk *w)
{
	struct stat	st;

	if (fstatat(w->dir, w->name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return -1;
	if (!S_ISLNK(st.st_mode))
		return move_to(w, openat(w->dir, w->name,
		    DIR_FLAGS | O_NOFOLLOW));
	return is_proc(w->dir) ? move_to(w, openat(w->dir, w->name,
	    DIR_FLAGS)) : check_link(w, &st);
}

/* 1: it is no link to go over, and so the end; 0: there is more to walk. */
static int
check_last(struct walk *w)
{
	struct stat	st;

	if (!w->follow || fstatat(w->dir, w->name, &st,
	    AT_SYMLINK_NOFOLLOW) == -1 || !S_ISLNK(st.st_mode) ||
	    is_proc(w->dir))
		return 1;
	return check_link(w, &st);
}

/* To the directory of what the path leads to, with its name; 0 or -1. */
static int
walk_path(struct walk *w)
{
	int	end = 0;

	while (end == 0) {
		if (!next_part(w))
			return -1;
		if (w->name[0] == '\0')
			strcpy(w->name, ".");
		end = w->rest[strspn(w->rest, "/")] != '\0' ? enter_part(w) :
		    check_last(w);
	}
	return end == 1 ? 0 : -1;
}

static int
begin_walk(struct walk *w, const char *path, bool follow)
{
	*w = (struct walk){ .path = path, .dir = -1, .follow = follow };
	if (path[0] != '/' || strlen(path) >= sizeof(w->rest)) {
		errno = path[0] != '/' ? EINVAL : ENAMETOOLONG;
		return -1;
	}
	strcpy(w->rest, path);
	w->dir = open("/", DIR_FLAGS);
	return w->dir == -1 ? -1 : walk_path(w);
}

/*
 * Whether a file in another's directory may be root's or a third one's from
 * elsewhere.  Its name is looked at as well: one that has been taken away
 * meanwhile does not count among a file's names any more.
 */
static bool
may_be_foreign(const struct walk *w, int fd)
{
	struct stat	directory, st, named;

	if (fstat(w->dir, &directory) == -1 || fstat(fd, &st) == -1)
		return true;
	if (is_root_only(&directory) || is_proc(w->dir))
		return false;
	if (directory.st_uid == st.st_uid && st.st_uid != 0 &&
	    (directory.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return false;
	return st.st_nlink > 1 || fstatat(w->dir, w->name, &named,
	    AT_SYMLINK_NOFOLLOW) == -1 || named.st_dev != st.st_dev ||
	    named.st_ino != st.st_ino || named.st_nlink > 1;
}

static int
open_last(const struct walk *w, int flags, mode_t mode)
{
	int	fd = openat(w->dir, w->name, is_proc(w->dir) ? flags :
		    flags | O_NOFOLLOW, mode);

	/* It has become one since it was looked at. */
	if (fd == -1 && errno == ELOOP && w->follow)
		return refuse_link(w);
	if (fd == -1 || !w->follow || !may_be_foreign(w, fd))
		return fd;
	close(fd);
	return refuse_name(w);
}

int
trusted_open(const char *path, int flags, mode_t mode)
{
	struct walk	w;
	int		fd = -1;

	if (geteuid() != 0)
		return open(path, flags, mode);
	if (begin_walk(&w, path, (flags & O_NOFOLLOW) == 0) == 0)
		fd = open_last(&w, flags, mode);
	io_close(&w.dir);
	return fd;
}

int
trusted_directory(const char *path, const char **last)
{
	struct walk	w;

	if (begin_walk(&w, path, false) == -1)
		io_close(&w.dir);
	else
		*last = strrchr(path, '/') + 1;
	return w.dir;
}
