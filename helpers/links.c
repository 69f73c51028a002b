/*
 * links: opens a path beneath a directory, by a policy about symbolic links.
 *
 * The walk reads links, and asks for owners of links and targets, through
 * descriptors only.  So even if files are swapped meanwhile, each link that led
 * to the result belongs to the owner of its target.
 */
#include <sys/stat.h>
#ifdef __linux__
#include <sys/vfs.h>
#include <linux/magic.h>
#endif

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "helpers/beneath.h"
#include "helpers/links.h"
#include "lib/io.h"

#ifdef O_PATH

#define LINKS_MAX	40		/* on one path, as in the kernel */

struct walk {
	int	 dir;			/* owned */
	int	 flags;			/* of open(), at the end of the path */
	char	 rest[JOB_PATH_MAX];	/* of the path, to be walked */
	int	 nlinks;		/* followed so far */
	/* Links whose target has not been reached: it has when no more than
	 * `rest` bytes are left to walk. */
	struct {
		uid_t	owner;
		size_t	rest;
	}	 unresolved[LINKS_MAX];
	int	 nunresolved;
};

static int
fail_with(int error)
{
	errno = error;
	return -1;
}

/* Cuts the next segment off the front; false: it is too long. */
static bool
cut_segment(struct walk *w, char name[NAME_MAX + 1])
{
	size_t	n = strcspn(w->rest, "/");
	size_t	next = n + strspn(w->rest + n, "/");

	if (n > NAME_MAX)
		return false;
	memcpy(name, w->rest, n);
	name[n] = '\0';
	memmove(w->rest, w->rest + next, strlen(w->rest + next) + 1);
	if (w->rest[0] == '\0' && next > n)
		w->flags |= O_DIRECTORY;
	return true;
}

/* Links of proc(5) do not lead where their text says. */
static bool
may_be_magic(int link)
{
#ifdef __linux__
	struct statfs	fs;

	return fstatfs(link, &fs) == -1 || fs.f_type == PROC_SUPER_MAGIC;
#else
	(void)link;
	return false;
#endif
}

/* Puts a link's target in front of the path that is left. */
static int
prepend_target(struct walk *w, const char *target, size_t n)
{
	size_t	slash = strspn(target, "/"), left = strlen(w->rest);
	bool	joined = left > 0;

	target += slash;
	n -= slash;
	if (n == 0) {			/* the target is / */
		target = ".";
		n = 1;
	}
	if (n + joined + left >= sizeof(w->rest))
		return fail_with(ENAMETOOLONG);
	memmove(w->rest + n + joined, w->rest, left + 1);
	memcpy(w->rest, target, n);
	if (joined)
		w->rest[n] = '/';
	if (slash == 0)
		return 0;
	io_close(&w->dir);
	w->dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->dir == -1 ? -1 : 0;
}

static int
follow_link(struct walk *w, int link, uid_t owner)
{
	char	target[JOB_PATH_MAX];
	ssize_t	n;

	if (w->nlinks++ == LINKS_MAX || may_be_magic(link))
		return fail_with(ELOOP);
	n = readlinkat(link, "", target, sizeof(target) - 1);
	if (n == -1)
		return -1;
	if (n == 0 || n == (ssize_t)sizeof(target) - 1)
		return fail_with(n == 0 ? ENOENT : ENAMETOOLONG);
	target[n] = '\0';
	w->unresolved[w->nunresolved].owner = owner;
	w->unresolved[w->nunresolved++].rest = strlen(w->rest);
	return prepend_target(w, target, (size_t)n);
}

/* Whether all links whose target is reached belong to the target's owner. */
static bool
owner_matches(struct walk *w, uid_t owner)
{
	size_t	left = strlen(w->rest);

	for (; w->nunresolved > 0; w->nunresolved--) {
		if (w->unresolved[w->nunresolved - 1].rest < left)
			break;
		if (w->unresolved[w->nunresolved - 1].owner != owner)
			return false;
	}
	return true;
}

/* Opens the end of the path; `seen` is its stat, of no link. */
static int
open_end(struct walk *w, const char *name, const struct stat *seen)
{
	struct stat	st;
	int		fd;

	if ((w->flags & O_DIRECTORY) != 0 && !S_ISDIR(seen->st_mode))
		return fail_with(ENOTDIR);
	if ((w->flags & O_PATH) == 0 && !S_ISREG(seen->st_mode) &&
	    !S_ISDIR(seen->st_mode))
		return fail_with(ENOTSUP);
	fd = openat(w->dir, name, w->flags | O_NOFOLLOW);
	if (fd == -1)
		return -1;
	/* The file may have been replaced, with BENEATH_STAT even by a link. */
	if (fstat(fd, &st) == -1 || S_ISLNK(st.st_mode) ||
	    !owner_matches(w, st.st_uid)) {
		io_close(&fd);
		return fail_with(EXDEV);
	}
	return fd;
}

/* Walks one segment, and sets *fd at the end of the path.  0, or -1. */
static int
walk_segment(struct walk *w, int *fd)
{
	char		name[NAME_MAX + 1];
	struct stat	st;
	int		below, result;

	if (!cut_segment(w, name))
		return fail_with(ENAMETOOLONG);
	below = openat(w->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (below == -1)
		return -1;
	if (fstat(below, &st) == -1)
		result = -1;
	else if (S_ISLNK(st.st_mode))
		result = follow_link(w, below, st.st_uid);
	else if (w->rest[0] == '\0')
		result = *fd = open_end(w, name, &st);
	else if (!S_ISDIR(st.st_mode))
		result = fail_with(ENOTDIR);
	else if (!owner_matches(w, st.st_uid))
		result = fail_with(EXDEV);
	else {
		int	above = w->dir;

		w->dir = below;
		below = above;
		result = 0;
	}
	io_close(&below);
	return result == -1 ? -1 : 0;
}

int
links_walk(int root, const char *path, int flags)
{
	struct walk	w = { .flags = flags };
	size_t		len = strlen(path);
	int		fd = -1;

	if (len >= sizeof(w.rest))
		return fail_with(ENAMETOOLONG);
	memcpy(w.rest, len > 0 ? path : ".", len > 0 ? len + 1 : 2);
	w.dir = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w.dir == -1)
		return -1;
	while (fd == -1 && walk_segment(&w, &fd) == 0)
		continue;
	io_close(&w.dir);
	return fd;
}

#else

/* Without O_PATH a link has no descriptor: no link is followed. */
int
links_walk(int root, const char *path, int flags)
{
	return beneath_walk(root, path, flags);
}

#endif

/* Whether the path itself, without its links, leaves the root. */
static bool
has_dotdot(const char *path)
{
	size_t	n;

	if (path[0] == '/')
		return true;
	for (; *path != '\0'; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		if (n == 2 && path[0] == '.' && path[1] == '.')
			return true;
	}
	return false;
}

/* Opens a path whose links all stay beneath the root, or whose owners match. */
static int
open_by_owner(int root, const char *path, int flags)
{
	int	fd = beneath_open(root, path, flags);

	/* The walk cannot keep to one mount: the caller asks again without. */
	if (fd == -1 && (errno == EXDEV || errno == ELOOP) &&
	    (flags & BENEATH_SAME_MOUNT) != 0)
		errno = EXDEV;
	else if (fd == -1 && (errno == EXDEV || errno == ELOOP))
		fd = links_walk(root, path, flags);
	return fd;
}

int
links_open(int root, const char *path, int flags, enum job_links links)
{
	if (links == JOB_LINKS_BENEATH)
		return beneath_open(root, path, flags);
	if (links == JOB_LINKS_NONE)
		return beneath_open_nolinks(root, path, flags);
	if (has_dotdot(path)) {
		errno = EXDEV;
		return -1;
	}
	if (links == JOB_LINKS_OWNER)
		return open_by_owner(root, path, flags);
	return beneath_open_unconfined(root, path, flags);
}
