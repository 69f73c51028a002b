/*
 * io_batch: system calls for several connections, one behind the other.
 *
 * A system call displaces much of our code and data from the processor's
 * caches, and our work displaces the system's.  So calls for connections that
 * become readable in one iteration are noted first, and then made by a loop
 * that touches nothing but the notes.  The step of each connection takes the
 * result in place of a call of its own.
 */
#ifndef HTTP_IO_BATCH_H
#define HTTP_IO_BATCH_H

#include <sys/types.h>

#include "http/machine.h"

struct conn;
struct transport;

struct io_op {				/* one recv or send */
	const struct transport	*transport;
	void			*context;
	int			 fd;
	int			 error;		/* errno, if result is -1 */
	char			*at;
	size_t			 len;		/* room, or bytes to send */
	ssize_t			 result;
};

struct io_batch {
	unsigned	 n;
	struct io_op	 ops[MACHINE_BATCH_MAX];
};

/* Receives into the loop's buffer, for as many connections as there is room
 * for; each of these has c->op set. */
void	io_batch_recv(struct io_batch *, struct conn *const *, unsigned n);
/* Sends for those connections that are about to send a single piece. */
void	io_batch_send(struct io_batch *, struct conn *const *, unsigned n);

#endif
