/*
 * root: opens the root of a job, and paths beneath it.
 *
 * Must not keep any state: links at the root or above may change between two
 * jobs.  homes.c remembers the user database for a few seconds.
 */
#include <sys/stat.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers/beneath.h"
#include "helpers/homes.h"
#include "helpers/links.h"
#include "helpers/root.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"

/* Errors that would tell about a home become ENOENT. */
static int
hide_error(int error)
{
	static const int	hidden[] = { EACCES, ELOOP, ENAMETOOLONG,
				    ENOTDIR, EPERM, EXDEV };

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (hidden[i] == error)
			return ENOENT;
	return error;
}

/* Clients must not learn from the error that a user without such a root
 * exists. */
static int
open_in_home(struct root *root, const struct job *job, const char *home)
{
	int	error = 0, fd;

	if (home[0] != '/')
		return ENOENT;
	fd = open(home, BENEATH_STAT | O_DIRECTORY);
	if (fd == -1)
		return hide_error(errno);
	root->fd = links_open(fd, job->find.root, BENEATH_STAT | O_DIRECTORY,
	    job->find.links);
	if (root->fd == -1)
		error = hide_error(errno);
	io_close(&fd);
	return error;
}

static int
open_user_root(struct root *root, const struct job *job)
{
	struct home	 home = { 0 };
	struct stat	 st;
	int		 error = homes_find(job->find.user, &home);

	if (error == 0 && home.uid < job->find.min_uid)
		error = ERANGE;
	if (error == 0)
		error = open_in_home(root, job, home.dir);
	if (error == 0) {
		root->is_user = true;
		root->uid = home.uid;
		if (fstat(root->fd, &st) == -1)
			error = errno;
		else if (!root_may_show(root, st.st_uid))
			error = EPERM;
	}
	mem_drop(&home.dir);
	return error;
}

/* EREMOTE for any error: the path may be valid without the limit. */
static int
open_mount(struct root *root, const struct job *job)
{
	char	mount_path[JOB_PATH_MAX];

	if (job->find.mount_len >= sizeof(mount_path))
		return ENAMETOOLONG;
	memcpy(mount_path, job->find.path, job->find.mount_len);
	mount_path[job->find.mount_len] = '\0';
	root->mount = beneath_open_nolinks(root->fd, mount_path,
	    BENEATH_STAT | O_DIRECTORY);
	root->mount_path = job->find.path;
	root->mount_path_len = job->find.mount_len;
	return root->mount == -1 ? EREMOTE : 0;
}

int
root_open(struct root *root, const struct job *job)
{
	*root = (struct root){ .fd = -1, .links = job->find.links,
	    .same_mount = job->find.same_mount, .mount = -1,
	    .name = job->find.root };
	if (job->find.user != NULL)
		return open_user_root(root, job);
	root->fd = open(job->find.root, BENEATH_STAT | O_DIRECTORY);
	if (root->fd == -1)
		return errno;
	return job->find.same_mount && job->find.mount_len > 0 ?
	    open_mount(root, job) : 0;
}

void
root_close(struct root *root)
{
	io_close(&root->fd);
	io_close(&root->mount);
}

/* Whether a path leads through mount_path. */
static bool
is_on_mount(const struct root *root, const char *path)
{
	size_t	n = root->mount_path_len;

	return root->mount != -1 && strncmp(path, root->mount_path, n) == 0 &&
	    (path[n] == '/' || path[n] == '\0');
}

int
root_access(int fd, int mode)
{
	char	name[sizeof("/proc/self/fd/") + 3 * sizeof(int)];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return access(name, mode);
}

/* Whether file permissions allow to read it: then Landlock has refused it. */
static bool
is_denied_by_rules(const struct root *root, int from, const char *path)
{
	int	fd = links_open(from, path, BENEATH_STAT, root->links);
	bool	may;

	if (fd == -1)
		return false;
	may = root_access(fd, R_OK) == 0;
	io_close(&fd);
	return may;
}

/* Logs once, since all files of that root are refused. */
static void
log_denied(const struct root *root, int from, const char *path)
{
	static atomic_bool	logged;

	if (logged || !is_denied_by_rules(root, from, path) ||
	    atomic_exchange(&logged, true))
		return;
	log_warnx("%s is out of reach: helpers may not read a directory that "
	    "has come to this name since the conf was read; reload the conf "
	    "(SIGHUP)", root->name);
}

int
root_open_path(const struct root *root, const char *path, int flags)
{
	int	from = root->fd, fd;

	if (is_on_mount(root, path)) {
		from = root->mount;
		path += root->mount_path_len;
		path += strspn(path, "/");
	}
	fd = links_open(from, path,
	    flags | (root->same_mount ? BENEATH_SAME_MOUNT : 0), root->links);
	if (fd == -1 && errno == EACCES && (flags & BENEATH_STAT) !=
	    BENEATH_STAT) {
		log_denied(root, from, path);
		errno = EACCES;
	} else if (fd == -1 && errno == EPERM)	/* which is of owners */
		errno = EACCES;
	/* EXDEV stands for leaving the root and for leaving the mount. */
	if (fd == -1 && root->same_mount && errno == EXDEV)
		errno = EREMOTE;
	return fd;
}

bool
root_may_show(const struct root *root, uid_t owner)
{
	return !root->is_user || owner == root->uid;
}
