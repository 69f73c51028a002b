/*
 * output: what is to be sent, as a queue of pieces of memory.
 *
 * A piece is borrowed from a cache, which a release function tells when it has
 * gone; or it stands in the queue's own scratch memory.  One gathered write
 * takes them all, of several responses if need be.
 */
#ifndef HTTP_OUTPUT_H
#define HTTP_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTPUT_PIECES	64
#define OUTPUT_SCRATCH	(32 * 1024)	/* bytes, for what is made at once */

struct iovec;

struct piece {
	const char	*at;
	size_t		 len;
	void		(*release)(void *owner, void *what);
	void		*owner, *what;
};

struct output {
	unsigned	 first, n;		/* pieces [first, first + n) */
	size_t		 bytes;			/* in them */
	size_t		 scratch_used;
	struct piece	 pieces[OUTPUT_PIECES];
	char		 scratch[OUTPUT_SCRATCH];
};

/* Whether so many pieces more find room. */
bool	output_room(const struct output *, unsigned pieces);
void	output_add(struct output *, const struct piece *);
/* A copy of these bytes as a piece: in scratch, or malloc'ed if too large. */
struct piece output_copy(struct output *, const void *, size_t);
/* A piece in scratch becomes one of its own memory, to outlast the turn. */
void	output_own(struct piece *);
/* The first pieces, at most so many bytes; how many entries of iov. */
int	output_gather(const struct output *, struct iovec *, int n,
	    size_t most);
/* Takes the last pieces with this release function back; bytes in them. */
size_t	output_take_back(struct output *, void (*)(void *, void *));
void	output_sent(struct output *, size_t);	/* so many bytes have gone */
/* What is left, into one of its own, copied where it stands in scratch. */
struct output *output_keep(struct output *);
void	output_drop(struct output *);		/* releases all pieces */

#endif
