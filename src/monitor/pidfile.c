/*
 * pidfile: a lock and a number.
 *
 * The lock belongs to the open file (flock(2)): processes that inherit the
 * descriptor hold it too, and a dead process holds none.  pidfile(3) cannot
 * pass its lock on.
 */
#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/trusted.h"
#include "monitor/pidfile.h"

#define TEXT_SIZE	32		/* bytes; a pid file is shorter */

/* Whether the path still leads to the open file. */
static bool
is_named(int fd, const char *path)
{
	struct stat	a, b;

	return fd != -1 && fstat(fd, &a) == 0 && lstat(path, &b) == 0 &&
	    a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Returns the number in the file; 0: the file is empty; -1: it is no pid file.
 * After the number there may be the end of a longer one, if a process died
 * while it wrote. */
static long
read_pid(int fd)
{
	char	text[TEXT_SIZE];
	ssize_t	n = pread(fd, text, sizeof(text) - 1, 0);
	long	pid;

	if (n <= 0)
		return n;
	text[n] = '\0';
	pid = strtol(text, NULL, 10);
	return pid > 0 && text[strspn(text, "0123456789 \n")] == '\0' ? pid :
	    -1;
}

/* Whether the file may be written and removed.  A file with other names, or
 * other content, is a mistake or a trick. */
static bool
is_pidfile(int fd)
{
	struct stat	st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_nlink <= 1 && st.st_size < TEXT_SIZE && read_pid(fd) != -1;
}

/* Opens and locks the file; -1 with errno.  EWOULDBLOCK: another process has
 * it, *holder if that is known.  EEXIST: it is no pid file. */
static int
lock_file(const char *path, long *holder)
{
	int	fd;

	/* The directory may belong to a user who plants links. */
	fd = trusted_open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
	    O_NONBLOCK, 0644);
	if (fd == -1)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == -1)
		*holder = read_pid(fd);
	else if (is_pidfile(fd))
		return fd;
	else
		errno = EEXIST;
	io_close(&fd);
	return -1;
}

int
pidfile_lock(struct pidfile *p, const char *path, int inherited)
{
	long	holder = 0;

	if (is_named(inherited, path))
		p->fd = inherited;
	else {
		io_close(&inherited);
		trusted_make_directory(path);
		do {		/* its holder may just be removing it */
			io_close(&p->fd);
			p->fd = lock_file(path, &holder);
		} while (p->fd != -1 && !is_named(p->fd, path));
	}
	if (p->fd == -1 && errno == EEXIST)
		log_errorx("%s exists and is no pid file: name another file in "
		    "the conf (pid)", path);
	else if (p->fd == -1 && errno == EWOULDBLOCK && holder <= 0)
		log_errorx("another server, which is starting, has the pid "
		    "file %s", path);
	else if (p->fd == -1 && errno == EWOULDBLOCK)
		log_errorx("process %ld has the pid file %s, so a server runs "
		    "already: end that one, or name another pid file in the "
		    "conf (pid)", holder, path);
	else if (p->fd == -1)
		log_error("cannot make the pid file %s", path);
	if (p->fd == -1)
		return -1;
	p->path = mem_string(path);
	return 0;
}

void
pidfile_write_pid(const struct pidfile *p)
{
	char	text[TEXT_SIZE];
	int	n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

	/* Written before it is cut, so a reader always finds a number. */
	if (p->fd != -1 && (pwrite(p->fd, text, (size_t)n, 0) != n ||
	    ftruncate(p->fd, n) == -1))
		log_warn("cannot write the pid file %s", p->path);
}

/* Removes a file through links that only root can have made. */
static int
remove_file(const char *path)
{
	const char	*name;
	int		 directory = trusted_directory(path, &name), done = -1;

	if (directory != -1)
		done = unlinkat(directory, name, 0);
	io_close(&directory);
	return done;
}

void
pidfile_end(struct pidfile *p)
{
	long	who = p->fd != -1 ? read_pid(p->fd) : -1;

	/* 0: this process ends before it has served. */
	if ((who == (long)getpid() || who == 0) &&
	    is_named(p->fd, p->path) && remove_file(p->path) == -1 &&
	    ftruncate(p->fd, 0) == -1)
		log_warn("cannot remove the pid file %s", p->path);
	pidfile_leave(p);
}

void
pidfile_leave(struct pidfile *p)
{
	io_close(&p->fd);
	mem_drop(&p->path);
}

void
pidfile_change(struct pidfile *p, const char *path)
{
	struct pidfile	next = { .fd = -1 };

	if (path == NULL ? p->path == NULL :
	    p->path != NULL && strcmp(path, p->path) == 0)
		return;
	if (path != NULL && pidfile_lock(&next, path, -1) == -1)
		return;
	pidfile_end(p);
	*p = next;
	pidfile_write_pid(p);
}
