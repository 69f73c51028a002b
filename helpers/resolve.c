/*
 * resolve: finds a name beneath a root and opens the file.
 *
 * A program is found and not opened: its bytes are nobody's to see, and to run
 * it takes no right to read it.
 *
 * Must open nothing but regular files: opening a FIFO or a device has effects,
 * and may block for ever.  The facts of a file are taken once, before it is
 * opened for reading: its readers compare them afterwards.
 */
#include <sys/stat.h>
#ifdef __linux__
#include <sys/vfs.h>
#include <linux/magic.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "helpers/beneath.h"
#include "helpers/file_version.h"
#include "helpers/handle.h"
#include "helpers/job.h"
#include "helpers/perform.h"
#include "helpers/filters/references.h"
#include "helpers/root.h"
#include "lib/io.h"

/*
 * The kernel stamps a file when a write(2) begins, and the data follow: under
 * load, or in a large write, tenths of a second later.  RFC 9110, section
 * 8.8.2.2, takes a second as well.  Time stamps without a fraction suggest a
 * file system with a grain of 1 s, or 2 s (FAT).
 */
#define GRAIN_NS	1000000000LL
#define GRAIN_COARSE_NS	2000000000LL

struct stat_info {
	struct job_version	version;
	struct job_facts	facts;
};

static int64_t
nanoseconds(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

/* Whether a change from now on gets other time stamps. */
static bool
is_strong(const struct stat *st, const struct timespec *now)
{
	int64_t	mtime = nanoseconds(&st->st_mtim);
	int64_t	ctime = nanoseconds(&st->st_ctim);
	bool	coarse = st->st_mtim.tv_nsec == 0 && st->st_ctim.tv_nsec == 0;

	return (mtime > ctime ? mtime : ctime) <
	    nanoseconds(now) - (coarse ? GRAIN_COARSE_NS : GRAIN_NS);
}

#ifdef __linux__
/* Whether an open file may be read without the page cache, which the kernel
 * knows itself. */
static bool
has_direct_io(int fd)
{
	int	flags = fcntl(fd, F_GETFL);

	if (flags == -1 || fcntl(fd, F_SETFL, flags | O_DIRECT) == -1)
		return false;
	(void)fcntl(fd, F_SETFL, flags);
	return true;
}
#endif

/* A file system with a server passes statfs(2) on to that, so the kernel is
 * asked first: tmpfs has seals, and what has a server has direct I/O. */
static bool
is_in_memory(int fd)
{
#ifdef __linux__
	struct statfs	fs;

#ifdef F_GET_SEALS
	if (fcntl(fd, F_GET_SEALS) != -1)
		return true;
#endif
	return !has_direct_io(fd) && fstatfs(fd, &fs) == 0 &&
	    (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
#else
	(void)fd;
	return false;
#endif
}

/* Fills in *info of a regular file; 0 or an errno. */
static int
stat_file(int fd, struct stat_info *info)
{
	struct timespec	now;
	struct stat	st;

	/* The time first: a change between the calls must not look old. */
	if (clock_gettime(CLOCK_REALTIME, &now) == -1 || fstat(fd, &st) == -1)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	if (!S_ISREG(st.st_mode))
		return ENOTSUP;
	info->version = file_version_of(&st);
	info->facts = (struct job_facts){
		.mode = st.st_mode, .uid = st.st_uid,
		.strong = is_strong(&st, &now)
	};
	return 0;
}

/* Opens a regular file and fills in *info; 0, or an errno and no *fd. */
static int
open_and_stat(const struct root *root, const char *path, int flags, int *fd,
    struct stat_info *info)
{
	int	error;

	*fd = root_open_path(root, path, flags);
	if (*fd == -1)
		return errno;
	error = stat_file(*fd, info);
	if (error == 0 && !root_may_show(root, info->facts.uid))
		error = EPERM;
	if (error != 0)
		io_close(fd);
	else if (flags == BENEATH_READ)	/* not for its stat alone */
		info->facts.in_memory = is_in_memory(*fd);
	return error;
}

/*
 * Opens for reading what *fd is a handle of: the same file, so what is known of
 * it holds, and a file system that is slow is not asked again.  Failing that,
 * opens the path again, which finds out why.  0, or an errno and no *fd.
 */
static int
open_to_read(const struct root *root, const char *path, int *fd,
    struct stat_info *info)
{
	int	handle = *fd;

	*fd = io_reopen(handle, BENEATH_READ);
	io_close(&handle);
	if (*fd == -1)
		return open_and_stat(root, path, BENEATH_READ, fd, info);
	info->facts.in_memory = is_in_memory(*fd);
	return 0;
}

/* Resolves this path only, and fills in the result; 0 or an errno. */
static int
resolve_file(struct job *job, const struct root *root, const char *path)
{
	struct job_find		*find = &job->find;
	struct stat_info	info;
	int			error, fd;

	error = open_and_stat(root, path, BENEATH_STAT, &fd, &info);
	if (error != 0)
		return error;
	find->unchanged = find->has_version &&
	    file_version_same(&info.version, &find->version);
	if (find->unchanged)
		io_close(&fd);
	else
		error = open_to_read(root, path, &fd, &info);
	if (error != 0)
		return error;
	job->fd = fd;
	find->version = info.version;
	find->facts = info.facts;
	return 0;
}

/*
 * Programs
 */

/* Whether a file of that path is one of the job's programs, by its name. */
static bool
is_program(const struct job *job, const char *path)
{
	struct str	 all = job->find.programs;
	const char	*slash = strrchr(path, '/');
	const char	*name = slash != NULL ? slash + 1 : path;

	for (size_t at = 0; at < all.len; at += strlen(all.at + at) + 1)
		if (fnmatch(all.at + at, name, 0) == 0)
			return true;
	return false;
}

static bool
is_executable(int fd, uint32_t mode)
{
	return root_access(fd, X_OK) == 0 ||
	    (errno == ENOENT && (mode & 0111) != 0);
}

/* Fills in the result for a program, to which so many bytes of the job's path
 * lead; 0 or an errno.  Must not open it: to run it takes no right to read. */
static int
resolve_program(struct job *job, const struct root *root, const char *path,
    size_t split)
{
	struct stat_info	info;
	int			error, fd;

	error = open_and_stat(root, path, BENEATH_STAT, &fd, &info);
	if (error != 0)
		return error;
	job->resolve.program = true;
	job->resolve.executable = is_executable(fd, info.facts.mode);
	job->resolve.split = split;
	job->find.version = info.version;
	job->find.facts = info.facts;
	io_close(&fd);
	return 0;
}

/* ENOTDIR, as a name follows a file that is no program; EISDIR: it does not. */
static int
check_name(const struct root *root, const char *path)
{
	struct stat_info	info;
	int			error, fd;

	error = open_and_stat(root, path, BENEATH_STAT, &fd, &info);
	if (error != 0)
		return error;
	io_close(&fd);
	return ENOTDIR;
}

/* Resolves the first file on the way to a path that leads through one. */
static int
resolve_split(struct job *job, const struct root *root)
{
	const char	*path = job->find.path;
	char		 part[JOB_PATH_MAX];
	size_t		 n = 0;
	int		 error = EISDIR;

	while (error == EISDIR && path[n] != '\0') {
		n += strspn(path + n, "/");
		n += strcspn(path + n, "/");
		memcpy(part, path, n);
		part[n] = '\0';
		error = is_program(job, part) ?
		    resolve_program(job, root, part, n) :
		    check_name(root, part);
	}
	return error == EISDIR ? ENOTDIR : error;
}

/*
 * Files
 */

/* 0, or ENAMETOOLONG. */
static int
join_suffix(char path[JOB_PATH_MAX], const char *name, const char *suffix)
{
	int	n = snprintf(path, JOB_PATH_MAX, "%s%s", name, suffix);

	return n < 0 || n >= JOB_PATH_MAX ? ENAMETOOLONG : 0;
}

/* Whether there is no file of this name, and the next is tried. */
static bool
is_no_file(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EISDIR;
}

/* Whether a sibling can have been made of this version of the file. */
static bool
is_current(const struct job_version *sibling, const struct job_version *file)
{
	return sibling->size > 0 && (sibling->mtime > file->mtime ||
	    (sibling->mtime == file->mtime &&
	    sibling->mtime_ns >= file->mtime_ns));
}

/* Whether a sibling of that path counts.  0, or why there is no such file. */
static int
find_sibling(const struct job *job, const struct root *root, const char *path,
    bool any_age, bool *counts)
{
	struct stat_info	info;
	int			error, fd;

	*counts = false;
	error = is_program(job, path) ? ESTALE :
	    open_and_stat(root, path, BENEATH_STAT, &fd, &info);
	if (error != 0)
		return error;
	io_close(&fd);
	/* The sibling must be readable, too. */
	if ((any_age ? info.version.size == 0 :
	    !is_current(&info.version, &job->find.version)) ||
	    open_and_stat(root, path, BENEATH_READ, &fd, &info) != 0)
		return 0;
	io_close(&fd);
	*counts = true;
	return 0;
}

/* As find_sibling(), for the file in a language.  A lookup of that file takes
 * the first form that is there, so no other one counts. */
static int
find_translation(const struct job *job, const struct root *root,
    const char *name, const char *tag, bool *counts)
{
	char	path[JOB_PATH_MAX];
	int	error = ENOENT;

	*counts = false;
	for (unsigned form = 0; form < JOB_LANGUAGE_FORMS &&
	    is_no_file(error); form++)
		if (job_language_name(path, sizeof(path), name, tag, form))
			error = find_sibling(job, root, path, true, counts);
	return error;
}

/* Sets a bit for each sibling that counts; 0 or an errno. */
static int
find_siblings(struct job *job, const struct root *root, const char *name)
{
	const char	*suffix;
	char		 path[JOB_PATH_MAX];
	uint64_t	 bit = 1;
	bool		 counts;
	int		 error = 0;

	for (size_t at = 0; at < job->resolve.siblings.len &&
	    error != EREMOTE; at += strlen(suffix) + 1, bit <<= 1) {
		suffix = job->resolve.siblings.at + at;
		counts = false;
		if (*suffix != '.')
			error = find_translation(job, root, name, suffix,
			    &counts);
		else if (join_suffix(path, name, suffix) == 0)
			error = find_sibling(job, root, path, false, &counts);
		if (counts)
			job->resolve.counting |= bit;
	}
	return error == EREMOTE ? error : 0;
}

/*
 * Opens a sibling of this file.  ESTALE, which does not make the caller try the
 * next name: the sibling does not count.
 */
static int
resolve_sibling(struct job *job, const struct root *root, const char *name)
{
	const char		*suffix = job->resolve.siblings.at;
	char			 path[JOB_PATH_MAX];
	struct stat_info	 file;
	int			 error, fd;

	error = open_and_stat(root, name, BENEATH_STAT, &fd, &file);
	if (error != 0)
		return error;
	io_close(&fd);
	for (uint64_t i = 1; i < job->resolve.sibling; i++)
		suffix += strlen(suffix) + 1;
	if (join_suffix(path, name, suffix) != 0 || is_program(job, name) ||
	    is_program(job, path))
		return ESTALE;
	error = resolve_file(job, root, path);
	if (error == ENOENT || error == ENOTDIR || error == EISDIR)
		return ESTALE;
	if (error == 0 && !is_current(&job->find.version, &file.version)) {
		io_close(&job->fd);
		job->find.unchanged = false;
		return ESTALE;
	}
	return error;
}

static int
resolve_path(struct job *job, const struct root *root, const char *path)
{
	struct job_version	known = job->find.version;
	int			error;

	if (job->resolve.sibling > 0)
		return resolve_sibling(job, root, path);
	if (is_program(job, path))
		return resolve_program(job, root, path,
		    strlen(job->find.path));
	error = resolve_file(job, root, path);
	if (error == 0)
		error = find_siblings(job, root, path);
	if (error != 0) {
		io_close(&job->fd);
		job->find.unchanged = false;
		job->find.version = known;	/* the caller may ask again */
		job->resolve.counting = 0;
	}
	return error;
}

/* How many bytes of a path lead to the last name on it that can be looked at:
 * to a directory that may not be entered, or to the end. */
static size_t
find_closed(const struct root *root, const char *path)
{
	char	part[JOB_PATH_MAX];
	size_t	good = 0, n = 0;
	int	fd;

	while (path[n] != '\0') {
		n += strspn(path + n, "/");
		n += strcspn(path + n, "/");
		memcpy(part, path, n);
		part[n] = '\0';
		fd = root_open_path(root, part, BENEATH_STAT);
		if (fd == -1)
			break;
		io_close(&fd);
		good = n;
	}
	return good;
}

/* Notes what is denied on the way to the job's path, or to what that is with a
 * name behind it. */
static void
note_denied(struct job *job, const struct root *root, const char *path,
    unsigned number)
{
	size_t	len = strlen(path), good = find_closed(root, path);

	job->find.denied = (uint32_t)(good < len ? good :
	    strlen(job->find.path) + number);
}

/* 0 or an errno. */
static int
check_directory(const struct root *root, const char *path)
{
	int	fd = root_open_path(root, path, BENEATH_STAT | O_DIRECTORY);

	if (fd == -1)
		return errno;
	io_close(&fd);
	return 0;
}

/* Resolves the first file that the path is with a name behind it; ENOENT: there
 * is none. */
static int
resolve_names(struct job *job, const struct root *root)
{
	char		 path[JOB_PATH_MAX];
	const char	*name;
	unsigned	 number = 0;
	int		 error;

	for (size_t at = 0; at < job->find.names.len; at += strlen(name) + 1) {
		name = job->find.names.at + at;
		error = join_suffix(path, job->find.path, name);
		if (error != 0)
			return error;
		number++;
		error = resolve_path(job, root, path);
		if (error == 0)
			job->find.name_number = number;
		else if (error == EACCES)
			note_denied(job, root, path, number);
		if (!is_no_file(error))
			return error;
	}
	return ENOENT;
}

/* Resolves the first of the names that is a file in the directory. */
static int
resolve_index(struct job *job, const struct root *root)
{
	int	error = resolve_names(job, root);

	if (error != ENOENT)
		return error;
	/* No name: an error of the directory goes first. */
	error = check_directory(root, job->find.path);
	if (error == EACCES)
		note_denied(job, root, job->find.path, 0);
	return error != 0 ? error : EISDIR;
}

/* Resolves the path, or what it is with a suffix.  If it is neither, or too
 * long with one, the error is that of the path alone. */
static int
resolve_or_suffix(struct job *job, const struct root *root)
{
	int	alone = resolve_path(job, root, job->find.path), error;

	if (alone == EACCES)
		note_denied(job, root, job->find.path, 0);
	if (!is_no_file(alone))
		return alone;
	error = resolve_names(job, root);
	return error == ENOENT || error == ENAMETOOLONG ? alone : error;
}

void
resolve_open(struct job *job)
{
	size_t		len = strlen(job->find.path);
	struct root	root;

	job->fd = -1;
	job->resolve.counting = 0;
	job->resolve.program = job->resolve.executable = false;
	job->resolve.split = 0;
	job->error = root_open(&root, job);
	if (job->error == 0)
		job->error = len == 0 || job->find.path[len - 1] == '/' ?
		    resolve_index(job, &root) : resolve_or_suffix(job, &root);
	if (job->error == ENOTDIR && job->find.programs.len > 0 &&
	    job->resolve.sibling == 0)
		job->error = resolve_split(job, &root);
	root_close(&root);
}

/* Whether main needs the bytes of the file that was found, and not the file. */
static bool
is_to_copy(const struct job *job)
{
	int64_t	size = job->find.version.size;

	/* A sibling that counts may be sent in place of the file. */
	return size > 0 && size <= job->resolve.copy_max &&
	    job->resolve.counting == 0 && handle_is_needed(job);
}

/* Replaces the open file by a copy: main would ask for that next, and have the
 * file opened, compared and closed once more.  false: it cannot be copied; a
 * job of its own will find out why. */
static bool
replace_by_copy(struct job *job)
{
	bool	in_memory;
	int	copy = copy_whole(job->fd, &job->find.version, &in_memory);

	if (copy == -1)
		return false;
	io_close(&job->fd);
	job->fd = copy;
	job->find.facts.in_memory = in_memory;
	job->find.facts.copy = true;
	job->find.facts.mode &= ~(uint32_t)S_IFMT;
	return true;
}

static void
replace_by_references(struct job *job)
{
	bool	in_memory;
	int	names = references_list(job->fd, &in_memory);

	if (names == -1)
		job->error = errno;
	io_close(&job->fd);
	job->fd = names;
	job->find.facts.mode &= ~(uint32_t)S_IFMT;
}

/* Sums the versions of other files up; one that is no file counts as none. */
static void
sum_others(struct job *job)
{
	const struct str	*all = &job->resolve.others;
	struct stat		 st;

	job->resolve.others_sum = 0;
	for (size_t at = 0; at < all->len; at += strlen(all->at + at) + 1) {
		struct job_version	v = { 0 };

		if (stat(all->at + at, &st) == 0 && S_ISREG(st.st_mode))
			v = file_version_of(&st);
		job->resolve.others_sum = job_sum_version(
		    job->resolve.others_sum, &v);
	}
}

void
resolve_perform(struct job *job)
{
	resolve_open(job);
	sum_others(job);
	if (job->fd != -1 && job->resolve.references)
		replace_by_references(job);
	else if (job->fd != -1 && !job->resolve.for_reading &&
	    !(is_to_copy(job) && replace_by_copy(job)))
		handle_convert(job);
}
