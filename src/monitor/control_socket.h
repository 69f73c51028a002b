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

struct ctl_socket {
	int	 fd;			/* -1: there is none */
	char	*file;			/* owned */
	dev_t	 dev;			/* of that: it is ours */
	ino_t	 ino;
	bool	 placed;		/* it has its name */
};

/*
 * As a conf wants it, but for its name: 0, or -1 after a line that says why
 * not.  There may be none.  Before is whose name may be taken: our own, or, if
 * heir is set, whatever listens there.
 */
int	ctl_socket_open(struct ctl_socket *, const struct conf *,
	    const struct ctl_socket *before, bool heir);
/* Gives it its name; a line, if that fails. */
void	ctl_socket_place(struct ctl_socket *);
/* Whether it is as both confs want it, and where it was put. */
bool	ctl_socket_stays(const struct ctl_socket *, const struct conf *,
	    const struct conf *);
/* Closed, and removed if it still is the one. */
void	ctl_socket_remove(struct ctl_socket *);
/* In a child that has nothing to do with it. */
void	ctl_socket_leave(struct ctl_socket *);

#endif
