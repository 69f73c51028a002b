/*
 * Fuzz target of helpers/wire: bytes from the other end of a stream pipe.
 * The input is a byte of flags, a byte with the size of the first piece, and
 * the message.  A request that is accepted gives the same bytes when it is sent
 * again; no bytes behind it are read, and no descriptor stays open.
 */
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers/wire.h"
#include "lib/io.h"
#include "lib/need.h"

enum {
	FD_FIRST = 1,		/* a descriptor with the first piece */
	FD_SECOND = 2,		/* a descriptor with the second */
	IS_REPLY = 4,		/* a reply to a job ... */
	HAS_VERSION = 8,		/* ... with a version */
	KIND_SHIFT = 4		/* ... of this kind */
};

/* Jobs for replies. */
#define ID		7
#define ENTRIES		1000
static const char	 names[] = "index.html\0index.htm";
static const char	 programs[] = "*.php";
static const struct job_version version = { 1, 2, 3, 4, 5, 6, 7 };

static char		*buffer, *second;
static int		 some_file = -1;

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
set_up(void)
{
	if (some_file != -1)
		return;
	some_file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	buffer = malloc(WIRE_MAX);
	second = malloc(WIRE_MAX);
	need(some_file != -1 && buffer != NULL && second != NULL);
}

/* The next descriptor, which is larger if one has leaked. */
static int
next_descriptor(void)
{
	int	fd = fcntl(some_file, F_DUPFD_CLOEXEC, 0);

	need(fd != -1);
	close(fd);
	return fd;
}

static void
send_piece(int sock, const uint8_t *data, size_t len, bool with_fd)
{
	void		*at = second;
	struct iovec	 part = { .iov_base = at, .iov_len = len };

	if (len == 0)
		return;
	memcpy(at, data, len);
	need(io_send_message(sock, &part, 1, with_fd ? some_file : -1) == 0);
}

/* Makes a pipe with these bytes in it, closed behind them. */
static void
fill_pipe(int fd[2], const uint8_t *data, size_t len, int flags, size_t cut)
{
	if (cut > len)
		cut = len;
	need(io_pipe(fd) == 0);
	send_piece(fd[1], data, cut, flags & FD_FIRST);
	send_piece(fd[1], data + cut, len - cut, flags & FD_SECOND);
	need(shutdown(fd[1], SHUT_WR) == 0);
}

/* Checks that the same bytes come again, and that the rest is unread. */
static void
check_same(int fd[2], const uint8_t *data, size_t len)
{
	int	left, n, again = -1;
	ssize_t	got;

	need(ioctl(fd[0], FIONREAD, &left) == 0);
	need(ioctl(fd[1], FIONREAD, &n) == 0);
	need(n > 0 && (size_t)n + (size_t)left == len);
	got = io_recv_message(fd[1], second, (size_t)n, &again, 0);
	io_close(&again);
	/* The descriptor of a CLOSE comes with the first byte alone. */
	need(got == n || (got == 1 &&
	    io_read_all(fd[1], second + 1, (size_t)n - 1) == n - 1));
	need(memcmp(second, data, (size_t)n) == 0);
}

/* Checks that a text is in the buffer, and terminated there. */
static void
check_text(const char *at, size_t len)
{
	need(at >= buffer && at + len <= buffer + WIRE_MAX);
	need(len == 0 || at[len - 1] == '\0');
}

/* The root of a user is relative to the home. */
static void
check_place(const struct job *job)
{
	check_text(job->find.root, strnlen(job->find.root, JOB_PATH_MAX) + 1);
	check_text(job->find.path, strnlen(job->find.path, JOB_PATH_MAX) + 1);
	if (job->kind != JOB_LIST) {
		check_text(job->find.names.at, job->find.names.len);
		check_text(job->find.programs.at, job->find.programs.len);
	}
	if (job->find.user != NULL)
		check_text(job->find.user, strnlen(job->find.user, JOB_USER_MAX) + 1);
	need((job->find.root[0] == '/') == (job->find.user == NULL));
	need(job->find.path[0] != '/');
	need(job->find.mount_len == 0 || (job->find.same_mount &&
	    job->find.mount_len <= strlen(job->find.path)));
	if (job->kind == JOB_RESOLVE)
		check_text(job->resolve.siblings.at,
		    job->resolve.siblings.len);
	else if (job->kind == JOB_LIST) {
		check_text(job->list.hidden.at, job->list.hidden.len);
		check_text(job->list.template.at, job->list.template.len);
		need(job->list.bytes_max >= 0);
	} else if (job->compress.cache_dir != NULL)
		check_text(job->compress.cache_dir,
		    strnlen(job->compress.cache_dir, JOB_PATH_MAX) + 1);
}

static void
check_spool(const struct job_spool *s)
{
	const char	*begin = buffer;

	if (s->directory != NULL) {
		check_text(s->directory,
		    strnlen(s->directory, JOB_PATH_MAX) + 1);
		need(s->directory[0] == '/');
		begin += strlen(s->directory) + 1;
	}
	need(s->bytes.at == begin && s->offset >= 0);
}

static void
check_request(const struct job *job)
{
	need(job->kind < JOB_KIND_COUNT);
	need(!job_has_range(job->kind) || job->range.offset >= 0);
	need((job->fd != -1) == (job_has_range(job->kind) ||
	    (job->kind == JOB_SPOOL && job->spool.has_file) ||
	    (job->kind == JOB_STORE && job->store.has_file)));
	need(job->kind != JOB_STORE || (job->store.key_size <=
	    job->store.bytes.len && job->store.max >= 0));
	if (job->kind == JOB_SPOOL)
		check_spool(&job->spool);
	if (job_finds(job->kind))
		check_place(job);
	need(job->kind != JOB_APPEND || (job->append.bytes.at == buffer &&
	    job->append.log >= 0));
	if (job->kind == JOB_VERIFY) {
		check_text(job->verify.file,
		    strnlen(job->verify.file, JOB_PATH_MAX) + 1);
		check_text(job->verify.both.at, job->verify.both.len);
	}
}

static void
receive_request(int fd[2], const uint8_t *data, size_t len)
{
	struct job	job;
	int		next = next_descriptor();
	int		result = wire_recv_request(fd[0], &job, buffer);

	need((result == 0) == (len == 0));
	need(result != -1 || errno == EBADMSG);
	if (result == 1) {
		check_request(&job);
		need(wire_send_request(fd[0], &job) == 0);
		need(job.kind != JOB_CLOSE || job.fd == -1);
		check_same(fd, data, len);
		io_close(&job.fd);
	}
	need(next_descriptor() == next);
}

/* Makes a job as main does. */
static void
make_job(struct job *job, enum job_kind kind, bool known)
{
	job_init(job, kind);
	job->id = ID;
	if (job_finds(kind)) {
		job->find.has_version = known;
		job->find.version = version;
		job->find.path = "a.php/b";
	}
	if (kind == JOB_RESOLVE) {
		job->find.names = (struct str){ names, sizeof(names) };
		job->find.programs = (struct str){ programs,
		    sizeof(programs) };
	} else if (kind == JOB_LIST)
		job->list.entries_max = ENTRIES;
	else if (kind == JOB_APPEND)
		job->append.bytes.len = ENTRIES;
	else if (job_has_range(kind)) {
		job->range.length = ENTRIES;
		job->fd = some_file;
	}
}

static bool
brings_file(enum job_kind kind)
{
	return kind == JOB_RESOLVE || kind == JOB_LIST ||
	    kind == JOB_COMPRESS || kind == JOB_COPY || kind == JOB_SPOOL ||
	    kind == JOB_STORE;
}

static void
check_reply(const struct job *job, enum job_kind kind, bool known)
{
	bool	unchanged = job_finds(kind) && job->find.unchanged;
	bool	program = kind == JOB_RESOLVE && job->resolve.program;

	need(job->id == ID && job->kind == kind && job->error >= 0);
	if (job_finds(kind)) {
		need(job->find.has_version == known);
		need(job->find.name_number <= 2);
		need(job->find.version.size >= 0);
	}
	need(kind != JOB_LIST || job->list.entries <= ENTRIES);
	need(kind != JOB_APPEND || job->append.done <= ENTRIES);
	need(kind != JOB_VERIFY || job->verify.right <= 1);
	need(!job_has_range(kind) || job->range.done <= ENTRIES);
	need(!unchanged || (known && job->error == 0 &&
	    memcmp(&job->find.version, &version, sizeof(version)) == 0));
	need(!program || (job->error == 0 && !unchanged &&
	    job->resolve.split <= strlen(job->find.path)));
	if (kind == JOB_READ || kind == JOB_DIGEST)
		need(job->fd == some_file);
	else
		need((job->fd != -1) == (job->error == 0 && !unchanged &&
		    !program && brings_file(kind)));
}

static void
receive_reply(int fd[2], const uint8_t *data, size_t len, int flags)
{
	enum job_kind	kind = ((unsigned)flags >> KIND_SHIFT) % JOB_KIND_COUNT;
	struct job	job;
	bool		known = flags & HAS_VERSION;
	int		result, next = next_descriptor();

	_Static_assert(JOB_KIND_COUNT <= 16, "four bits of flags");
	make_job(&job, kind, known);
	result = wire_recv_reply(fd[0], &job);
	need((result == 0) == (len == 0));
	need(result != -1 || errno == EBADMSG);
	if (result == 1) {
		check_reply(&job, kind, known);
		need(wire_send_reply(fd[0], &job) == 0);
		/* But for what fill() takes from somewhere else. */
		if (job.error != EMFILE &&
		    !(job_finds(kind) && job.find.unchanged))
			check_same(fd, data, len);
	}
	if (job.fd != some_file)
		io_close(&job.fd);
	need(next_descriptor() == next);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int	fd[2], flags;
	size_t	cut;

	if (len < 2 || len - 2 > WIRE_MAX)
		return 0;
	set_up();
	flags = data[0];
	cut = data[1];
	data += 2;
	len -= 2;
	fill_pipe(fd, data, len, flags, cut);
	if (flags & IS_REPLY)
		receive_reply(fd, data, len, flags);
	else
		receive_request(fd, data, len);
	close(fd[0]);
	close(fd[1]);
	return 0;
}
