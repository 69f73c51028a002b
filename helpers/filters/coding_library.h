/*
 * coding_library: what the libraries of codings have in common.  Private to
 * helpers/coding*.c.
 */
#ifndef HELPERS_CODING_LIBRARY_H
#define HELPERS_CODING_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Input that is left, and room that is left for output. */
struct coding_blocks {
	const unsigned char	*in;
	size_t			 in_len;
	unsigned char		*out;
	size_t			 out_len;
};

enum coding_state {
	CODING_FAILED,		/* the input is not of the coding */
	CODING_GOES_ON,		/* call again: with input, or with room */
	CODING_ENDED		/* all input, or the stream, is at its end */
};

/* Functions of one coding.  A stream is freed by its end function. */
struct coding_library {
	/* NULL: no memory.  size: bytes that the input will have. */
	void			*(*begin_encoding)(int level, int64_t size);
	/* last: no input follows; the stream then ends. */
	enum coding_state	 (*encode)(void *, struct coding_blocks *,
				    bool last);
	void			 (*end_encoding)(void *);
	void			*(*begin_decoding)(void);	/* NULL */
	enum coding_state	 (*decode)(void *, struct coding_blocks *);
	void			 (*end_decoding)(void *);
};

extern const struct coding_library	coding_br, coding_zstd, coding_gzip;

#endif
