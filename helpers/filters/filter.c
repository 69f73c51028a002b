/*
 * filter: input, output and notes of filters.
 */
#include <sys/resource.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "helpers/file_version.h"
#include "helpers/filters/filter.h"
#include "lib/io.h"
#include "lib/landlock.h"
#include "lib/proc.h"
#include "lib/sandbox.h"
#include "lib/syscall_filter.h"

#define NOTES_FD	3
#define READ_SIZE	(64 * 1024)	/* bytes at a time */
#define WRITE_SIZE	(64 * 1024)

int
filter_read(int fd, struct buf *to)
{
	ssize_t	n;

	do {
		buf_reserve(to, READ_SIZE);
		n = read(fd, to->at + to->len, READ_SIZE);
		if (n > 0)
			to->len += (size_t)n;
	} while (n > 0 || (n == -1 && errno == EINTR));
	return (int)n;
}

bool
filter_is_pausing(void)
{
	struct pollfd	p = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

/* The limit of files is that of a result. */
void
filter_limit(size_t len)
{
	struct rlimit	limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == -1 ||
	    limit.rlim_cur == RLIM_INFINITY || len <= limit.rlim_cur)
		return;
	fprintf(stderr, "it needs its whole input, which is larger than the "
	    "limit of its result, %lld bytes: raise \"result\"\n",
	    (long long)limit.rlim_cur);
	exit(EX_DATAERR);
}

bool
filter_next(struct buf *to)
{
	ssize_t	n;

	if (filter_is_pausing())
		filter_flush();
	buf_reserve(to, READ_SIZE);
	do
		n = read(STDIN_FILENO, to->at + to->len, READ_SIZE);
	while (n == -1 && errno == EINTR);
	if (n == -1) {
		perror("cannot read the file");
		exit(EX_IOERR);
	}
	to->len += (size_t)n;
	return n > 0;
}

static struct buf	output;

void
filter_flush(void)
{
	if (io_write_all(STDOUT_FILENO, output.at, output.len) == -1) {
		perror("cannot write the result");
		exit(EX_IOERR);
	}
	output.len = 0;
}

void
filter_write(const void *bytes, size_t n)
{
	buf_add(&output, bytes, n);
	if (output.len >= WRITE_SIZE)
		filter_flush();
}

/* Whether a name is noted for the first time; each is a line. */
static bool
is_new(const char *name)
{
	static struct buf	names;	/* a line each, behind a line end */
	struct buf		line = { 0 };
	bool			new;

	buf_addf(&line, "\n%s\n", name);
	new = strstr(buf_string(&names), buf_string(&line)) == NULL;
	if (new)
		buf_add(&names, line.at, line.len);
	buf_free(&line);
	return new;
}

/* A by-hand run has no such file there. */
void
filter_note(const char *name, int fd)
{
	struct stat		st;
	struct job_version	v = { 0 };

	if (fcntl(NOTES_FD, F_GETFD) == -1 || !is_new(name))
		return;
	if (fd != -1 && fstat(fd, &st) == 0)
		v = file_version_of(&st);
	dprintf(NOTES_FD, "%" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %"
	    PRIx64 " %" PRIx32 " %" PRIx32 " %s\n", v.dev, v.ino,
	    (uint64_t)v.size, (uint64_t)v.mtime, (uint64_t)v.ctime, v.mtime_ns,
	    v.ctime_ns, name);
}

void
filter_confine(const char *directory)
{
	struct sandbox	sandbox = { .roles = SYSCALL_ROLE_FILTER, .rules = -1 };

	if (!proc_has_no_new_privileges())
		return;
	if (directory != NULL) {
		sandbox.roles |= SYSCALL_ROLE_FILES;
		sandbox.rules = landlock_create(true);
	}
	if (sandbox.rules != -1)
		(void)landlock_allow(sandbox.rules, directory, LANDLOCK_READ);
	sandbox_enter(&sandbox);
}

const char *
filter_variable(const char *name)
{
	const char	*value = getenv(name);

	return value != NULL ? value : "";
}
