/*
 * channel: messages of one byte.
 */
#include <sys/uio.h>

#include <errno.h>
#include <stdint.h>

#include "lib/io.h"
#include "shared/channel.h"

int
channel_send(int pipe, enum channel_message message, int fd)
{
	uint8_t		byte = (uint8_t)message;
	struct iovec	iov = { &byte, sizeof(byte) };

	return io_send_message(pipe, &iov, 1, fd);
}

int
channel_recv(int pipe, enum channel_message *message, int *fd)
{
	uint8_t	byte;
	ssize_t	n = io_recv_message(pipe, &byte, sizeof(byte), fd, 0);

	if (n != 1)
		return (int)n;
	if (byte >= CHANNEL_COUNT) {
		io_close(fd);
		errno = EBADMSG;
		return -1;
	}
	*message = (enum channel_message)byte;
	return 1;
}
