/*
 * io_batch: calls of the system for several connections, one right behind the
 * other.
 *
 * Behind a call little of ours is left in the processor's caches; nor, when we
 * have done something, of the system's.  So calls for clients that come in the
 * same turn are noted first, and then made by a loop that touches nothing but
 * the notes.  Each client's step takes the result where it would have made the
 * call.
 */
#ifndef HTTP_IO_BATCH_H
#define HTTP_IO_BATCH_H

#include <sys/types.h>

#include "http/machine.h"

struct conn;
struct transport;

struct io_op {
	const struct transport	*transport;
	void			*context;
	int			 fd;
	int			 error;		/* errno, if n is -1 */
	char			*at;
	size_t			 len;		/* room, or what is to go */
	ssize_t			 result;		/* the result */
};

struct io_batch {
	unsigned	 n;
	struct io_op	 ops[MACHINE_BATCH_MAX];
};

/* For those whose next step is to read into the loop's buffer; as many as find
 * room there. */
void	io_batch_recv(struct io_batch *, struct conn *const *, unsigned n);
/* For those of them who are about to send, and have but one piece. */
void	io_batch_send(struct io_batch *, struct conn *const *, unsigned n);

#endif
