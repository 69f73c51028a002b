/*
 * control_socket: the control socket as a file: made, kept and removed.
 *
 * It appears under its name with its mode and owner, and listening: it is made
 * under another name first.  What another server listens at is left alone.
 */
#ifndef MONITOR_CONTROL_SOCKET_H
#define MONITOR_CONTROL_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>

struct conf;

struct control_socket {
	int	 fd;			/* -1: there is none */
	char	*file;			/* owned */
	dev_t	 dev;			/* of that: it is ours */
	ino_t	 ino;
	bool	 published;		/* it has its name */
};

/*
 * As a conf wants it, but for its name: 0, or -1 after a line that says why
 * not.  There may be none.  Before is whose name may be taken: our own, or, if
 * heir is set, whatever listens there.
 */
int	control_socket_open(struct control_socket *, const struct conf *,
	    const struct control_socket *before, bool take_over);
/* Gives it its name; a line, if that fails. */
void	control_socket_publish(struct control_socket *);
/* Whether it is as both confs want it, and where it was put. */
bool control_socket_is_unchanged(
    const struct control_socket *, const struct conf *, const struct conf *);
/* Closed, and removed if it still is the one. */
void	control_socket_remove(struct control_socket *);
/* In a child that has nothing to do with it. */
void	control_socket_close(struct control_socket *);

#endif
