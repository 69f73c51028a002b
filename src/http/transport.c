/*
 * transport: the plain one, a TCP socket.
 */
#include <sys/socket.h>
#include <sys/uio.h>

#include <stdint.h>
#include <unistd.h>

#include "http/transport.h"

static ssize_t
plain_recv(void *context, int fd, void *to, size_t size)
{
	(void)context;
	return recv(fd, to, size, MSG_DONTWAIT);
}

static ssize_t
plain_send(void *context, int fd, const struct iovec *iov, int n)
{
	struct msghdr	msg = { 0 };

	(void)context;
	if (n == 1)		/* one check less in the kernel than sendmsg */
		return send(fd, iov->iov_base, iov->iov_len,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
	msg.msg_iov = (struct iovec *)(uintptr_t)iov;
	msg.msg_iovlen = (size_t)n;
	return sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void
plain_finish(void *context, int fd)
{
	(void)context;
	shutdown(fd, SHUT_WR);
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
	.finish = plain_finish,
	.close = plain_close,
};
