/*
 * private_socket: a connection to a process that is about to start, and to no
 * other.
 */
#ifndef PROGRAMS_PRIVATE_SOCKET_H
#define PROGRAMS_PRIVATE_SOCKET_H

/*
 * Makes a Unix-domain socket that listens, and a connection to it that does not
 * block, both close-on-exec and the caller's.  The socket has no name any more,
 * so that connection is the only one.  Writes to the directory for temporary
 * files (TMPDIR, else /tmp), where nothing stays.  0, or -1 with errno.
 */
int	private_socket_open(int *listener, int *connection);

#endif
