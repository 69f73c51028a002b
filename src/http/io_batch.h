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

struct call {
	const struct transport	*transport;
	void			*context;
	int			 fd;
	int			 error;		/* errno, if n is -1 */
	char			*at;
	size_t			 len;		/* room, or what is to go */
	ssize_t			 n;		/* the result */
};

struct burst {
	unsigned	 n;
	struct call	 of[MACHINE_TOGETHER];
};

/* For those whose next step is to read into the loop's buffer; as many as find
 * room there. */
void	burst_receive(struct burst *, struct conn *const *, unsigned n);
/* For those of them who are about to send, and have but one piece. */
void	burst_send(struct burst *, struct conn *const *, unsigned n);

#endif
