/*
 * private_socket: connections to a process that is about to start, and to no
 * other.
 */
#ifndef PROGRAMS_PRIVATE_SOCKET_H
#define PROGRAMS_PRIVATE_SOCKET_H

#include <stdbool.h>

struct private_socket {			/* each descriptor is the caller's */
	int	listener;
	int	connection;
	int	file;			/* a handle; -1: there is no way to
					 * connect again */
};

/*
 * Makes a Unix-domain socket that listens, and a connection to it that does not
 * block, all close-on-exec.  The socket has no name any more, so only a process
 * with its handle can connect.  Writes to the directory for temporary files
 * (TMPDIR, else /tmp), where nothing stays.  0, or -1 with errno.
 */
int	private_socket_open(struct private_socket *);
/* Makes another such connection, and returns it; -1 with errno.  Does not wait:
 * EAGAIN: the process accepts no connection. */
int	private_socket_connect(int file);
/* Whether a connection is open, and nothing has come; or whether it has been
 * closed, and nothing has come before. */
bool	private_socket_is_quiet(int connection);
bool	private_socket_has_ended(int connection);

#endif
