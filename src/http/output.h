/*
 * output: what is to be sent, as a queue of pieces of memory or of files.
 *
 * A piece is borrowed from a cache, which a release function tells when it has
 * gone; or it stands in the queue's own scratch memory.  One gathered write
 * takes all that are memory, of several responses if need be; one sendfile(2),
 * all that follow each other in a file.
 */
#ifndef HTTP_OUTPUT_H
#define HTTP_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/compiler.h"
#include "lib/need.h"

#define OUTPUT_PIECES	64	/* CONN_SEND_MAX, if of 16 KB each; heads */
#define OUTPUT_SCRATCH	(32 * 1024)	/* bytes, for what is made at once */

struct iovec;

struct piece {
	const char	*at;		/* NULL: in a file */
	size_t		 len;
	void		(*release)(void *owner, void *what);	/* NULL: in
				 * scratch, or good for this turn */
	void		*owner, *object;
	off_t		 offset;	/* in the file */
	int		 file;		/* its descriptor, the owner's */
};

struct output {
	unsigned	 first, n;		/* pieces [first, first + n) */
	size_t		 bytes;			/* in them */
	size_t		 scratch_used, scratch_size;
	bool		 kept;			/* by output_keep() */
	struct piece	 pieces[OUTPUT_PIECES];
	/* Last: a kept queue has no more of it than its pieces need. */
	char		 scratch[OUTPUT_SCRATCH];
};

void	output_init(struct output *);	/* one that is zero, for loops */

/* Whether so many pieces more find room. */
static inline bool
output_has_room(const struct output *o, unsigned pieces)
{
	return o->first + o->n + pieces <= OUTPUT_PIECES;
}

/* If there is any. */
static inline const struct piece *
output_first(const struct output *o)
{
	return &o->pieces[o->first];
}

/*
 * A piece of so many bytes, of memory or of a file, that nobody waits for.
 * What else it is, is written to where it stands: to make it elsewhere and to
 * copy it at once, in larger parts, makes the processor wait.
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
/* A copy of these bytes as a piece: in scratch, or malloc'ed if too large. */
struct piece output_copy(struct output *, const void *, size_t);
/* A copy of these bytes, which is one piece with the last if that stands in
 * front of it in scratch. */
void	output_write(struct output *, const void *, size_t);
/* Bytes that are free in scratch. */
static inline size_t
output_scratch_left(const struct output *o)
{
	return o->scratch_size - o->scratch_used;
}

COLD void output_detach_scratch(struct piece *);		/* for the next */
/* A piece in scratch becomes one of its own memory, to outlast the turn. */
static inline void
output_detach(struct piece *p)
{
	if (p->at != NULL && p->release == NULL)
		output_detach_scratch(p);
}

/* The first pieces that are memory, at most so many bytes; how many entries of
 * iov, and whether a file is behind them within these bytes. */
int	output_gather(const struct output *, struct iovec *, int n,
	    size_t most, bool *file);
/* The first piece, which is of a file, with those that go on where it ends:
 * offset and len of the result, at most so many bytes. */
struct piece output_file(const struct output *, size_t most);
/* Takes the last pieces back, as many as have at most so many bytes together;
 * bytes in them. */
size_t	output_unsend(struct output *, size_t most);
void	output_advance(struct output *, size_t);	/* so many bytes have gone */
/* Moves all pieces to a new queue; copies what does not outlast the turn. */
struct output *output_keep(struct output *);
void	output_free(struct output *);		/* a kept one, and its pieces */
void	output_drop(struct output *);		/* releases all pieces */

#endif
