/*
 * transport: the transport of a TCP socket.
 */
#ifdef __linux__
#include <sys/sendfile.h>
#endif
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#ifdef __linux__
#include <linux/sockios.h>
#endif

#include <stdint.h>
#include <unistd.h>

#include "http/transport.h"
#include "lib/compiler.h"

static ssize_t
plain_recv(void *context, int fd, void *to, size_t size)
{
	(void)context;
	return recv(fd, to, size, MSG_DONTWAIT);
}

/* A function of its own, so that plain_send() of one piece ends with a jump to
 * send() and has no stack frame. */
static NOINLINE ssize_t
send_several(int fd, const struct iovec *iov, int n, int flags)
{
	struct msghdr	msg = { 0 };

	msg.msg_iov = (struct iovec *)(uintptr_t)iov;
	msg.msg_iovlen = (size_t)n;
	return sendmsg(fd, &msg, flags);
}

static ssize_t
plain_send(void *context, int fd, const struct iovec *iov, int n, bool more)
{
	int	flags = MSG_DONTWAIT | MSG_NOSIGNAL;

	(void)context;
#ifdef MSG_MORE
	if (more)
		flags |= MSG_MORE;
#else
	(void)more;
#endif
	if (n == 1)		/* checks less than sendmsg() */
		return send(fd, iov->iov_base, iov->iov_len, flags);
	return send_several(fd, iov, n, flags);
}

#ifdef __linux__
static ssize_t
plain_send_file(void *context, int fd, int file, off_t offset, size_t len)
{
	(void)context;
	return sendfile(fd, file, &offset, len);
}

/* A failure only costs more packets. */
static void
plain_cork(void *context, int fd, bool on)
{
	int	value = on;

	(void)context;
	setsockopt(fd, IPPROTO_TCP, TCP_CORK, &value, sizeof(value));
}
#else
#define plain_send_file	NULL
#define plain_cork	NULL
#endif

static void
plain_shutdown(void *context, int fd)
{
	(void)context;
	shutdown(fd, SHUT_WR);
}

#ifdef SIOCOUTQ
static size_t
plain_unacked(void *context, int fd)
{
	int	n = 0;

	(void)context;
	return ioctl(fd, SIOCOUTQ, &n) == -1 || n < 0 ? 0 : (size_t)n;
}
#else
#define plain_unacked	NULL
#endif

static void
plain_reset(void *context, int fd)
{
	struct linger	at_once = { .l_onoff = 1, .l_linger = 0 };

	(void)context;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

static void
plain_close(void *context, int fd)
{
	(void)context;
	close(fd);
}

const struct transport transport_plain = {
	.recv = plain_recv,
	.send = plain_send,
	.send_file = plain_send_file,
	.cork = plain_cork,
	.shutdown = plain_shutdown,
	.unacked = plain_unacked,
	.reset = plain_reset,
	.close = plain_close,
};
