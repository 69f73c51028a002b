/*
 * held: output of programs that main holds until clients take it, each in a
 * buffer of its own, and the limit of all buffers together.
 *
 * A buffer of up to HELD_MIN bytes counts as nothing: so each answer goes on,
 * if slowly, when the limit is reached.
 */
#ifndef LOOP_HELD_H
#define LOOP_HELD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "backend.h"
#include "lib/buf.h"

#define HELD_MIN	(32 * 1024)	/* bytes; also what one read brings */

/* Of all loops of a main; any thread may use it. */
struct held_total {
	_Atomic size_t	bytes;		/* of buffers, beyond HELD_MIN each */
	size_t		most;
};

/* Of one answer; backend.at is in the buffer. */
struct held {
	struct held_total *total;	/* borrowed */
	struct buf	 output;
	size_t		 most;		/* bytes of output: `hold` of the
					 * program */
	size_t		 counted;	/* bytes of the total */
	struct buf	*spare;		/* borrowed: an empty buffer, which the
					 * answers of a loop use in turn, as a
					 * new one would be a mapping; NULL:
					 * there is none */
};

/* Counts the memory of a buffer that grows to so many bytes: adds to *counted
 * and to the total.  Returns false, and adds nothing, if the total would be too
 * large. */
bool	held_grow(struct held_total *, size_t *counted, size_t bytes);
/* Takes *counted, which is 0 then, from the total. */
void	held_uncount(struct held_total *, size_t *counted);
/* Moves what is not consumed to the front.  Returns for how many bytes there is
 * room behind it; 0: the program has to wait. */
size_t	held_make_room(struct held *, struct backend *);
/* Drops bytes in front, and leaves the buffer if they are the last. */
void	held_consume(struct held *, struct backend *, size_t);
/* Whether half of the buffer is free: the program may go on. */
bool	held_is_low(const struct held *, const struct backend *);
void	held_free(struct held *);

#endif
