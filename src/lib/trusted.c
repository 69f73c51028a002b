/*
 * trusted: walks a path from / on, one part at a time, each with openat(2) in
 * the directory of the part before.  So no other process can change the part of
 * the path that was tested.
 *
 * Links in /proc are magic: the kernel follows them, not their text.
 * /dev/stdout leads over one.
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

#define LINKS_MAX	40		/* as in the kernel */
#ifdef O_PATH
#define DIR_FLAGS	(O_PATH | O_DIRECTORY | O_CLOEXEC)
#else
#define DIR_FLAGS	(O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#endif

struct walk {
	const char	*path;		/* of the caller */
	int		 dir;		/* descriptor of a directory */
	bool		 follow;	/* whether a link at the end counts */
	int		 links;		/* followed so far */
	char		 rest[PATH_MAX];	/* behind name, to be walked */
	char		 name[NAME_MAX + 1];	/* the current part, in here */
};

/* Whether only root can make entries in a directory. */
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
	log_errorx("not opening %s: another user than root may have made the "
	    "link %s in it; remove the link, or make it as root in a directory "
	    "that only root may write to", w->path, w->name);
	errno = EPERM;
	return -1;
}

static int
refuse_name(const struct walk *w)
{
	log_errorx("not opening %s: another user than root may have made it "
	    "as a second name of a file; remove this name, and amped makes a "
	    "new file", w->path);
	errno = EPERM;
	return -1;
}

/* Moves the next part from rest to name; false: the part is too long. */
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

/* Puts the target of the link name in front of rest. */
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

/* Enters a part that is not the last: 0, or -1 with errno. */
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

/* 1: the part is the end of the walk; 0: a link was put in front of rest; -1
 * with errno. */
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

/* Walks to the directory of the last part: 0, or -1 with errno. */
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
 * Whether an open file may be a hard link that the directory's owner made to
 * another user's file.  The name is tested too: had it been removed after the
 * open, st_nlink of the open file would not count it.
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

	/* The file was replaced by a link after check_last(). */
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

void
trusted_make_directory(const char *path)
{
	char		 directory[PATH_MAX];
	const char	*end = strrchr(path, '/'), *last = NULL;
	struct stat	 st;
	int		 parent, length;

	length = end != NULL ? (int)(end - path) : 0;
	if (geteuid() != 0 || length == 0 || length >= PATH_MAX)
		return;
	snprintf(directory, sizeof(directory), "%.*s", length, path);
	parent = trusted_directory(directory, &last);
	if (parent == -1)
		return;
	/* Not by the umask: others are to reach what is made in it. */
	if (fstat(parent, &st) == 0 && is_root_only(&st) &&
	    mkdirat(parent, last, 0) == 0 &&
	    fchmodat(parent, last, 0755, 0) == 0)
		log_notice("made the directory %s", directory);
	io_close(&parent);
}
