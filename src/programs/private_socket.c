/*
 * private_socket: connects before it takes the name away.
 *
 * An abstract address would need no directory, but any user could connect to
 * it.  Linux finds a socket by its file, whatever its name: the link in proc(5)
 * leads to it when the name has gone.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/io.h"
#include "programs/private_socket.h"
#include "shared/unix_socket.h"

/* Returns 0, or -1 with errno. */
static int
make_directory_in(const char *parent, char *name, size_t size)
{
	int	n = snprintf(name, size, "%s/amped-XXXXXX", parent);

	if (n < 0 || (size_t)n >= size) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return mkdtemp(name) != NULL ? 0 : -1;
}

/* TMPDIR may be of the user who has started amped, and for no other. */
static int
make_directory(char *name, size_t size)
{
	const char	*parent = getenv("TMPDIR");

	if (parent != NULL && parent[0] == '/' &&
	    make_directory_in(parent, name, size) == 0)
		return 0;
	return make_directory_in("/tmp", name, size);
}

/* Returns a handle of the file, or -1. */
static int
open_file(const char *name)
{
#ifdef O_PATH
	return open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
#else
	(void)name;
	return -1;
#endif
}

/* Returns a connection, or -1 with errno. */
static int
connect_name(const char *name)
{
	struct sockaddr_un	sun;
	int			fd = socket(AF_UNIX, SOCK_STREAM |
				    SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd == -1)
		return -1;
	unix_socket_address(&sun, name);
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == -1)
		io_close(&fd);
	return fd;
}

/* 0, or -1 with errno. */
static int
open_name(struct private_socket *s, const char *name)
{
	struct sockaddr_un	sun;
	int			error;

	unix_socket_address(&sun, name);
	s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s->listener == -1 ||
	    bind(s->listener, (struct sockaddr *)&sun, sizeof(sun)) == -1)
		return -1;
	/* The process waits in accept(2); connect(2) is done at once. */
	if (listen(s->listener, 1) == 0)
		s->connection = connect_name(name);
	error = errno;
	s->file = open_file(name);
	unlink(name);
	errno = error;
	return s->connection == -1 ? -1 : 0;
}

int
private_socket_open(struct private_socket *s)
{
	char	name[UNIX_SOCKET_NAME_SIZE];
	char	directory[UNIX_SOCKET_NAME_SIZE - sizeof("/s") + 1];
	int	done, error;

	*s = (struct private_socket){ -1, -1, -1 };
	if (make_directory(directory, sizeof(directory)) == -1)
		return -1;
	snprintf(name, sizeof(name), "%s/s", directory);
	done = open_name(s, name);
	error = errno;
	rmdir(directory);
	if (done == -1) {
		io_close(&s->listener);
		io_close(&s->file);
	}
	errno = error;
	return done;
}

int
private_socket_connect(int file)
{
	char	name[40];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
	return connect_name(name);
}

static ssize_t
peek(int connection)
{
	char	byte;

	return recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
}

bool
private_socket_is_quiet(int connection)
{
	return peek(connection) == -1 &&
	    (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

bool
private_socket_has_ended(int connection)
{
	return peek(connection) == 0;
}
