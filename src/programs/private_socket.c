/*
 * private_socket: connects before it takes the name away.
 *
 * An abstract address would need no directory, but any user could connect to
 * it.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/io.h"
#include "programs/private_socket.h"
#include "shared/unix_socket.h"

/* Returns 0, or -1 with errno. */
static int
make_directory(char *name, size_t size)
{
	const char	*parent = getenv("TMPDIR");
	int		 n;

	if (parent == NULL || parent[0] != '/')
		parent = "/tmp";
	n = snprintf(name, size, "%s/amped-XXXXXX", parent);
	if (n < 0 || (size_t)n >= size) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return mkdtemp(name) != NULL ? 0 : -1;
}

/* 0, or -1 with errno. */
static int
connect_name(const char *name, int listener, int connection)
{
	struct sockaddr_un	sun;
	int			done = -1, error;

	unix_socket_address(&sun, name);
	if (bind(listener, (struct sockaddr *)&sun, sizeof(sun)) == -1)
		return -1;
	if (listen(listener, 1) == 0)
		done = connect(connection, (struct sockaddr *)&sun,
		    sizeof(sun));
	error = errno;
	unlink(name);
	errno = error;
	return done;
}

int
private_socket_open(int *listener, int *connection)
{
	char	name[UNIX_SOCKET_NAME_SIZE];
	char	directory[UNIX_SOCKET_NAME_SIZE - sizeof("/s") + 1];
	int	done = -1, error;

	*listener = *connection = -1;
	if (make_directory(directory, sizeof(directory)) == -1)
		return -1;
	snprintf(name, sizeof(name), "%s/s", directory);
	/* The process waits in accept(2); connect(2) is done at once. */
	*listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	*connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0);
	if (*listener != -1 && *connection != -1)
		done = connect_name(name, *listener, *connection);
	error = errno;
	rmdir(directory);
	errno = error;
	if (done == -1) {
		io_close(listener);
		io_close(connection);
	}
	return done;
}
