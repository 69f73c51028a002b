/*
 * root: where a job looks.
 *
 * Must not remember anything: a link at the root or above may point elsewhere
 * the next time, and a user may have moved, or gone.
 */
#include <sys/stat.h>

#include <errno.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers/beneath.h"
#include "helpers/links.h"
#include "helpers/root.h"
#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"

/* What the user database may say of one user, at first and at most: bytes. */
#define ENTRY		1024
#define ENTRY_MOST	(1024 * 1024)

/* There is no such user: getpwnam(3) has many ways to say so. */
static bool
means_nobody(int error)
{
	return error == 0 || error == ENOENT || error == ESRCH ||
	    error == EBADF || error == EPERM;
}

/* Of our own want of something, not of the user. */
static bool
means_want(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM ||
	    error == EAGAIN || error == ETIMEDOUT;
}

/* Asks as often as it takes; 0 or an errno, ENOENT if there is none. */
static int
ask(const char *name, struct passwd *user, char **entry)
{
	struct passwd	*found = NULL;
	size_t		 size = ENTRY;
	int		 error;

	for (;;) {
		*entry = mem_grow(*entry, size, 1);
		error = getpwnam_r(name, user, *entry, size, &found);
		if (error == ERANGE && size < ENTRY_MOST)
			size *= 2;
		else if (error != EINTR)
			break;
	}
	/* What is refused by its name must not come in by another case. */
	if (error == 0 && found != NULL && strcmp(user->pw_name, name) == 0)
		return 0;
	return means_nobody(error) ? ENOENT : means_want(error) ? error : EIO;
}

/* What a home says that is not for others: then there is no directory. */
static int
hide(int error)
{
	static const int	hidden[] = { EACCES, ELOOP, ENAMETOOLONG,
				    ENOTDIR, EPERM, EXDEV };

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (hidden[i] == error)
			return ENOENT;
	return error;
}

/* Nobody is to find out who is a user here without such a directory. */
static int
open_in_home(struct root *root, const struct job *job, const char *home)
{
	int	error = 0, fd;

	if (home == NULL || home[0] != '/')
		return ENOENT;
	fd = open(home, BENEATH_LOOK | O_DIRECTORY);
	if (fd == -1)
		return hide(errno);
	root->fd = links_open(fd, job->root, BENEATH_LOOK | O_DIRECTORY,
	    job->links);
	if (root->fd == -1)
		error = hide(errno);
	io_close(&fd);
	return error;
}

static int
open_of_user(struct root *root, const struct job *job)
{
	struct passwd	 user;
	struct stat	 st;
	char		*entry = NULL;
	int		 error = ask(job->user, &user, &entry);

	if (error == 0 && user.pw_uid < job->min_uid)
		error = ENOENT;
	if (error == 0)
		error = open_in_home(root, job, user.pw_dir);
	if (error == 0) {
		root->is_user = true;
		root->uid = user.pw_uid;
		if (fstat(root->fd, &st) == -1)
			error = errno;
		else if (!root_shows(root, st.st_uid))
			error = EACCES;
	}
	mem_drop(&entry);
	return error;
}

/* Whatever is wrong with the way: without staying there may be another. */
static int
open_mount(struct root *root, const struct job *job)
{
	char	way[JOB_PATH_MAX];

	if (job->mount_len >= sizeof(way))
		return ENAMETOOLONG;
	memcpy(way, job->path, job->mount_len);
	way[job->mount_len] = '\0';
	root->mount = beneath_open_straight(root->fd, way,
	    BENEATH_LOOK | O_DIRECTORY);
	root->way = job->path;
	root->way_len = job->mount_len;
	return root->mount == -1 ? EREMOTE : 0;
}

int
root_open(struct root *root, const struct job *job)
{
	*root = (struct root){ .fd = -1, .links = job->links,
	    .stay = job->same_mount, .mount = -1, .name = job->root };
	if (job->user != NULL)
		return open_of_user(root, job);
	root->fd = open(job->root, BENEATH_LOOK | O_DIRECTORY);
	if (root->fd == -1)
		return errno;
	return job->same_mount && job->mount_len > 0 ? open_mount(root, job)
						     : 0;
}

void
root_close(struct root *root)
{
	io_close(&root->fd);
	io_close(&root->mount);
}

/* Whether a path is on the mount that is stayed on. */
static bool
is_on_mount(const struct root *root, const char *path)
{
	return root->mount != -1 &&
	    strncmp(path, root->way, root->way_len) == 0 &&
	    (path[root->way_len] == '/' || path[root->way_len] == '\0');
}

/* By permissions we may read it: then it is Landlock that is in the way. */
static bool
is_fenced(const struct root *root, int from, const char *path)
{
	char	name[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	int	fd = links_open(from, path, BENEATH_LOOK, root->links);
	bool	may;

	if (fd == -1)
		return false;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	may = access(name, R_OK) == 0;
	io_close(&fd);
	return may;
}

/* Once is enough: all that is there is so. */
static void
tell_fenced(const struct root *root, int from, const char *path)
{
	static atomic_bool	told;

	if (told || !is_fenced(root, from, path) ||
	    atomic_exchange(&told, true))
		return;
	log_warnx("%s is out of reach: what has come to that name since the "
	    "conf was read may not be read; have the conf read again (SIGHUP)",
	    root->name);
}

int
root_enter(const struct root *root, const char *path, int flags)
{
	int	from = root->fd, fd;

	if (is_on_mount(root, path)) {
		from = root->mount;
		path += root->way_len;
		path += strspn(path, "/");
	}
	fd = links_open(from, path, flags | (root->stay ? BENEATH_STAY : 0),
	    root->links);
	if (fd == -1 && errno == EACCES && (flags & BENEATH_LOOK) !=
	    BENEATH_LOOK) {
		tell_fenced(root, from, path);
		errno = EACCES;
	}
	/* Out of the root, or only onto another file system: who can tell? */
	if (fd == -1 && root->stay && errno == EXDEV)
		errno = EREMOTE;
	return fd;
}

bool
root_shows(const struct root *root, uid_t owner)
{
	return !root->is_user || owner == root->uid;
}
