/*
 * resolve: finds a name beneath a root and opens the file.
 *
 * Must never open what is not a regular file: opening a FIFO or a device has
 * effects, and may wait for ever.  What is told about a file was asked of one
 * descriptor, so that size, times and bytes belong to one version.
 */
#include <sys/stat.h>
#ifdef __linux__
#include <sys/vfs.h>
#include <linux/magic.h>
#endif

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "helpers/beneath.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "lib/io.h"

/*
 * The kernel stamps with a clock of up to 10 ms grain.  No fraction at all
 * looks like a file system that keeps seconds, or pairs of them (FAT).
 */
#define GRAIN_NS	20000000LL
#define GRAIN_COARSE_NS	2000000000LL

struct sight {
	struct job_version	version;
	struct job_facts	facts;
};

static int64_t
nanoseconds(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

/* Whether a change from now on would show in the stamps. */
static bool
is_settled(const struct stat *st, const struct timespec *now)
{
	int64_t	mtime = nanoseconds(&st->st_mtim);
	int64_t	ctime = nanoseconds(&st->st_ctim);
	bool	coarse = st->st_mtim.tv_nsec == 0 && st->st_ctim.tv_nsec == 0;

	return (mtime > ctime ? mtime : ctime) <
	    nanoseconds(now) - (coarse ? GRAIN_COARSE_NS : GRAIN_NS);
}

static bool
is_in_memory(int fd)
{
#ifdef __linux__
	struct statfs	fs;

	return fstatfs(fd, &fs) == 0 &&
	    (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
#else
	(void)fd;
	return false;
#endif
}

/* 0 if it is a regular file. */
static int
look(int fd, struct sight *sight)
{
	struct timespec	now;
	struct stat	st;

	/* First: a change between the two calls must not look settled. */
	if (clock_gettime(CLOCK_REALTIME, &now) == -1 || fstat(fd, &st) == -1)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	if (!S_ISREG(st.st_mode))
		return ENOTSUP;
	sight->version = (struct job_version){
		.dev = st.st_dev, .ino = st.st_ino, .size = st.st_size,
		.mtime = st.st_mtim.tv_sec, .ctime = st.st_ctim.tv_sec,
		.mtime_ns = (uint32_t)st.st_mtim.tv_nsec,
		.ctime_ns = (uint32_t)st.st_ctim.tv_nsec
	};
	sight->facts = (struct job_facts){
		.mode = st.st_mode, .uid = st.st_uid,
		.settled = is_settled(&st, &now),
		.in_memory = is_in_memory(fd)
	};
	return 0;
}

/* Leaves a descriptor in *fd if all is well. */
static int
open_and_look(int root, const char *path, int flags, int *fd,
    struct sight *sight)
{
	int	error;

	*fd = beneath_open(root, path, flags);
	if (*fd == -1)
		return errno;
	error = look(*fd, sight);
	if (error != 0)
		io_close(fd);
	return error;
}

static bool
same_version(const struct job_version *a, const struct job_version *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	    a->mtime == b->mtime && a->mtime_ns == b->mtime_ns &&
	    a->ctime == b->ctime && a->ctime_ns == b->ctime_ns;
}

/* This path and no other; fills the answer in if it is a file. */
static int
take(struct job *job, int root, const char *path)
{
	struct sight	sight;
	int		error, fd;

	error = open_and_look(root, path, BENEATH_LOOK, &fd, &sight);
	if (error != 0)
		return error;
	io_close(&fd);
	job->same = job->known && same_version(&sight.version, &job->version);
	if (!job->same) {
		/* Another file may have come to its place: look again. */
		error = open_and_look(root, path, BENEATH_READ, &fd, &sight);
		if (error != 0)
			return error;
		job->fd = fd;
	}
	job->version = sight.version;
	job->facts = sight.facts;
	return 0;
}

/* 0 if there is such a directory. */
static int
find_directory(int root, const char *path)
{
	int	fd = beneath_open(root, path, BENEATH_LOOK | O_DIRECTORY);

	if (fd == -1)
		return errno;
	io_close(&fd);
	return 0;
}

/* The first of the names that is a file in this directory. */
static int
take_name(struct job *job, int root)
{
	char		 path[JOB_PATH_MAX];
	const char	*name, *end = job->names + job->names_len;
	unsigned	 which = 0;
	int		 error, n;

	for (name = job->names; name < end; name += strlen(name) + 1) {
		n = snprintf(path, sizeof(path), "%s%s", job->path, name);
		if (n < 0 || (size_t)n >= sizeof(path))
			return ENAMETOOLONG;
		which++;
		error = take(job, root, path);
		if (error == 0)
			job->which = which;
		if (error != ENOENT && error != ENOTDIR && error != EISDIR)
			return error;
	}
	/* None: because of the directory itself? */
	error = find_directory(root, job->path);
	return error != 0 ? error : EISDIR;
}

void
resolve_perform(struct job *job)
{
	size_t	len = strlen(job->path);
	int	root;

	job->fd = -1;
	/* Anew each time: a link at the root or above may point elsewhere. */
	root = open(job->root, BENEATH_LOOK | O_DIRECTORY);
	if (root == -1)
		job->error = errno;
	else if (len == 0 || job->path[len - 1] == '/')
		job->error = take_name(job, root);
	else
		job->error = take(job, root, job->path);
	io_close(&root);
}
