/*
 * control_socket: makes, keeps and removes the file of the control socket.
 *
 * The file appears under its name with its mode and owner set, and listening:
 * it is made under another name and renamed.  A socket at which another server
 * listens is left alone.
 */
#ifndef MONITOR_CONTROL_SOCKET_H
#define MONITOR_CONTROL_SOCKET_H

#include <stdbool.h>

#include "shared/unix_socket.h"

struct conf;

struct control_socket {
	int	 fd;			/* -1: there is none */
	char	*file;			/* owned */
	struct unix_socket_id id;	/* of the file, to remove no other */
	bool	 published;		/* the file has its name */
};

/*
 * Makes the socket that the conf describes, without giving it its name; fd is
 * -1 if the conf has none.  Returns 0, or -1 after a line in the log.  before:
 * our own socket, whose name may be taken, or NULL.  take_over: the name may be
 * taken from another server.
 */
int	control_socket_open(struct control_socket *, const struct conf *,
	    const struct control_socket *before, bool take_over);
/* Gives the socket its name; logs an error if that fails. */
void	control_socket_publish(struct control_socket *);
/* Whether both confs describe the same socket, and its file is still there. */
bool	control_socket_is_unchanged(const struct control_socket *,
	    const struct conf *, const struct conf *);
/* Closes the socket, and removes its file if the name still leads to it. */
void	control_socket_remove(struct control_socket *);

#endif
