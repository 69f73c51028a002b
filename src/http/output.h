/*
 * output: a queue of pieces to be sent, of memory or of files.
 *
 * A piece refers to an object of a cache, which its release function releases
 * after the send; or it is in the scratch memory of the queue.  One gathered
 * write sends all pieces of memory, of several responses if need be.  One
 * sendfile(2) sends all pieces that follow each other in a file.
 */
#ifndef HTTP_OUTPUT_H
#define HTTP_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/compiler.h"
#include "lib/need.h"

#define OUTPUT_PIECES	64	/* heads, and CONN_SEND_MAX in 64 KB each */
#define OUTPUT_SCRATCH	(32 * 1024)	/* bytes */

struct iovec;

struct piece {
	const char	*at;		/* NULL: in a file */
	size_t		 len;
	/* NULL: the piece is in scratch or lasts for this iteration only. */
	void		(*release)(void *owner, void *object);
	void		*owner, *object;
	off_t		 offset;	/* in the file */
	int		 file;		/* its descriptor, the owner's */
};

struct output {
	unsigned	 first, n;		/* pieces [first, first + n) */
	size_t		 bytes;			/* in all pieces */
	size_t		 scratch_used, scratch_size;
	bool		 kept;			/* by output_keep() */
	struct piece	 pieces[OUTPUT_PIECES];
	/* Last member: a kept queue allocates only what its pieces need. */
	char		 scratch[OUTPUT_SCRATCH];
};

void	output_init(struct output *);	/* of zeroed memory */

/* Whether there is room for so many more pieces. */
static inline bool
output_has_room(const struct output *o, unsigned pieces)
{
	return o->first + o->n + pieces <= OUTPUT_PIECES;
}

/* The first piece; the queue must not be empty. */
static inline const struct piece *
output_first(const struct output *o)
{
	return &o->pieces[o->first];
}

/*
 * Adds a piece without a release function and returns it.  The caller sets
 * other members in place: a struct that is written by members and copied at
 * once in larger parts stalls the processor (store forwarding).
 */
static inline struct piece *
output_put(struct output *o, const char *at, size_t len)
{
	struct piece	*p = &o->pieces[o->first + o->n];

	need(output_has_room(o, 1));
	p->at = at;
	p->len = len;
	p->release = NULL;
	o->n++;
	o->bytes += len;
	return p;
}

void	output_add(struct output *, const struct piece *);
/* Copies bytes to scratch, or to allocated memory if they do not fit; the
 * piece is not added yet. */
struct piece output_copy(struct output *, const void *, size_t);
/* Adds a copy of bytes.  The last piece grows by them if it ends where the free
 * scratch begins. */
void	output_write(struct output *, const void *, size_t);
/* Free bytes of scratch. */
static inline size_t
output_scratch_left(const struct output *o)
{
	return o->scratch_size - o->scratch_used;
}

COLD void output_detach_scratch(struct piece *);	/* for output_detach */
/* Moves a piece from scratch to memory of its own, to outlast the iteration. */
static inline void
output_detach(struct piece *p)
{
	if (p->at != NULL && p->release == NULL)
		output_detach_scratch(p);
}

/* Fills iov with the first pieces of memory, at most so many bytes, and returns
 * the number of entries.  *file: a piece of a file follows within the bytes. */
int	output_gather(const struct output *, struct iovec *, int n,
	    size_t most, bool *file);
/* Joins the first piece, which must be of a file, with those that continue its
 * range: offset and len of the result, at most so many bytes. */
struct piece output_file(const struct output *, size_t most);
/* Releases the last pieces, at most so many bytes; returns their bytes. */
size_t	output_unsend(struct output *, size_t most);
void	output_advance(struct output *, size_t);	/* bytes were sent */
/* Moves all pieces to a new queue; copies pieces that last for this iteration
 * only. */
struct output *output_keep(struct output *);
void	output_free(struct output *);		/* of output_keep() */
void	output_drop(struct output *);		/* releases all pieces */

#endif
