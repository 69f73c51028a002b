/*
 * io: reads and writes that finish, and messages with descriptors.
 *
 * Must not log: the log writes through this file.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/need.h"

enum {
	PARTS_MAX = 8,			/* of a message */
	PIPE_SIZE = 256 * 1024		/* bytes; the longest message fits */
};

/* Control data with one descriptor, aligned as cmsg(3) requires. */
union control {
	struct cmsghdr	head;
	char		bytes[CMSG_SPACE(sizeof(int))];
};

int
io_nonblock(int fd)
{
	int	flags = fcntl(fd, F_GETFL);

	if (flags == -1)
		return -1;
	return (flags & O_NONBLOCK) != 0 ||
	    fcntl(fd, F_SETFL, flags | O_NONBLOCK) != -1 ? 0 : -1;
}

int
io_cloexec(int fd, bool on)
{
	int	flags = fcntl(fd, F_GETFD);

	if (flags == -1)
		return -1;
	flags = on ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC;
	return fcntl(fd, F_SETFD, flags) == -1 ? -1 : 0;
}

#ifdef O_PATH
static int
open_by_number(int fd, int flags)
{
	char	name[sizeof("/proc/self/fd/") + 3 * sizeof(int)];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return open(name, flags | O_CLOEXEC);
}

int
io_handle(int fd)
{
	return open_by_number(fd, O_PATH);
}

int
io_reopen(int fd, int flags)
{
	int	now = fcntl(fd, F_GETFL);

	if (now != -1 && (now & O_PATH) != 0)
		return open_by_number(fd, flags);
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}
#else
int
io_handle(int fd)
{
	(void)fd;
	errno = ENOSYS;
	return -1;
}

int
io_reopen(int fd, int flags)
{
	(void)flags;
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}
#endif

int
io_stat(int fd, struct stat *st)
{
	/* On LP64 systems the C library's struct is the kernel's. */
#if defined(SYS_fstat) && defined(__LP64__)
	return (int)syscall(SYS_fstat, fd, st);
#else
	return fstat(fd, st);
#endif
}

uint64_t
io_inode(int fd)
{
	struct stat	st;

	return io_stat(fd, &st) == -1 ? 0 : (uint64_t)st.st_ino;
}

ssize_t
io_read_nowait(int fd, void *to, size_t len, off_t offset)
{
#ifdef RWF_NOWAIT
	struct iovec	iov = { to, len };

	return preadv2(fd, &iov, 1, offset, RWF_NOWAIT);
#else
	(void)fd;
	(void)to;
	(void)len;
	(void)offset;
	errno = EOPNOTSUPP;
	return -1;
#endif
}

bool
io_can_read_nowait(int fd, off_t end)
{
	char	byte;

	return io_read_nowait(fd, &byte, 1, end) != -1 || errno == EAGAIN;
}

#ifdef SPLICE_F_NONBLOCK
/* Says what keeps bytes from being spliced.  The system has one error for a
 * source without bytes, a full pipe, and urgent data of TCP, which only read(2)
 * passes over. */
static int
explain_splice(int from, int to, int error)
{
	struct pollfd	ways[] = { { .fd = from, .events = POLLIN },
			    { .fd = to, .events = POLLOUT } };

	switch (error) {
	case EAGAIN:
		(void)poll(ways, 2, 0);
		return ways[0].revents == 0 ? EAGAIN :
		    ways[1].revents == 0 ? ENOSPC : ENOSYS;
	case EBADF:
	case EINTR:
	case EINVAL:
	case ENOMEM:
	case EPIPE:
		return ENOSYS;
	default:
		return error;
	}
}
#endif

ssize_t
io_splice(int from, int to, size_t len)
{
#ifdef SPLICE_F_NONBLOCK
	ssize_t	n = splice(from, NULL, to, NULL, len, SPLICE_F_NONBLOCK);

	if (n == -1 && errno == EAGAIN &&
	    explain_splice(from, to, errno) == ENOSYS)
		/* Bytes may have come meanwhile. */
		n = splice(from, NULL, to, NULL, len, SPLICE_F_NONBLOCK);
	if (n == -1)
		errno = explain_splice(from, to, errno);
	return n;
#else
	(void)from;
	(void)to;
	(void)len;
	errno = ENOSYS;
	return -1;
#endif
}

/* The default is a few KiB on some systems; Linux's is large enough. */
static void
enlarge_buffers(int sock)
{
	static const int room = PIPE_SIZE;

	(void)setsockopt(sock, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	(void)setsockopt(sock, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
}

int
io_pipe(int fd[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) == -1)
		return -1;
	enlarge_buffers(fd[0]);
	enlarge_buffers(fd[1]);
	return 0;
}

int
io_record_pipe(int fd[2])
{
	return socketpair(AF_UNIX,
	    SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd);
}

/* Keeps errno, so that a caller may close before it logs a failure. */
void
io_close(int *fd)
{
	int	error;

	if (*fd == -1)
		return;
	error = errno;
	close(*fd);
	*fd = -1;
	errno = error;
}

/* From an offset, or from where the descriptor is: -1. */
static ssize_t
read_all(int fd, void *bytes, size_t size, off_t at)
{
	char	*p = bytes;
	size_t	 have = 0;
	ssize_t	 n;

	while (have < size) {
		n = at == -1 ? read(fd, p + have, size - have) :
		    pread(fd, p + have, size - have, at + (off_t)have);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

ssize_t
io_read_all_at(int fd, void *bytes, size_t size, off_t at)
{
	return read_all(fd, bytes, size, at);
}

ssize_t
io_read_all(int fd, void *bytes, size_t size)
{
	return read_all(fd, bytes, size, -1);
}

int
io_write_all(int fd, const void *bytes, size_t size)
{
	const char *p = bytes;
	ssize_t	 n;

	while (size > 0) {
		n = write(fd, p, size);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

static void
attach_fd(struct msghdr *message, union control *control, int fd)
{
	memset(control, 0, sizeof(*control));
	message->msg_control = control->bytes;
	message->msg_controllen = sizeof(control->bytes);
	control->head.cmsg_level = SOL_SOCKET;
	control->head.cmsg_type = SCM_RIGHTS;
	control->head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control->head), &fd, sizeof(int));
}

/* Drops the n bytes in front that were sent. */
static void
skip_sent(struct msghdr *message, size_t n)
{
	struct iovec *part;

	while (message->msg_iovlen > 0) {
		part = message->msg_iov;
		if (n < part->iov_len) {
			part->iov_base = (char *)part->iov_base + n;
			part->iov_len -= n;
			return;
		}
		n -= part->iov_len;
		message->msg_iov++;
		message->msg_iovlen--;
	}
}

ssize_t
io_send(int sock, const void *bytes, size_t n)
{
	return send(sock, bytes, n, MSG_NOSIGNAL);
}

ssize_t
io_recv(int sock, void *bytes, size_t n)
{
	return recv(sock, bytes, n, 0);
}

int
io_send_message(int sock, const struct iovec *iov, int n, int fd)
{
	struct iovec	parts[PARTS_MAX];
	struct msghdr	message = { .msg_iov = parts };
	union control	control;
	ssize_t		sent;
	bool		begun = false;

	need(n > 0 && n <= PARTS_MAX);
	memcpy(parts, iov, (size_t)n * sizeof(*iov));
	message.msg_iovlen = (unsigned)n;
	if (fd != -1)
		attach_fd(&message, &control, fd);
	skip_sent(&message, 0);
	need(message.msg_iovlen > 0);	/* a descriptor needs a byte */
	while (message.msg_iovlen > 0) {
		sent = sendmsg(sock, &message, MSG_NOSIGNAL);
		if (sent == -1 && errno == EINTR)
			continue;
		if (sent == -1) {
			if (begun && (errno == EAGAIN || errno == EWOULDBLOCK))
				errno = EMSGSIZE;
			return -1;
		}
		begun = true;
		/* The descriptor was sent with the first byte. */
		message.msg_control = NULL;
		message.msg_controllen = 0;
		skip_sent(&message, (size_t)sent);
	}
	return 0;
}

/* Returns the first descriptor that came, and closes all others. */
static int
detach_fd(struct msghdr *message)
{
	struct cmsghdr	*c;
	size_t		 count;
	int		 fd, kept = -1;

	for (c = CMSG_FIRSTHDR(message); c != NULL;
	    c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int),
			    sizeof(int));
			if (kept == -1)
				kept = fd;
			else
				close(fd);
		}
	}
	return kept;
}

ssize_t
io_recv_message(int sock, void *bytes, size_t size, int *fd, int flags)
{
	struct iovec	part = { .iov_base = bytes, .iov_len = size };
	union control	control;
	struct msghdr	message = { .msg_iov = &part, .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof(control.bytes) };
	ssize_t		n;

	*fd = -1;
	do
		n = recvmsg(sock, &message, flags | MSG_CMSG_CLOEXEC);
	while (n == -1 && errno == EINTR);
	if (n != -1)
		*fd = detach_fd(&message);
	return n;
}
