/*
 * coding_gzip: the only file that includes zlib.
 */
#include <string.h>
#include <zlib.h>

#include "helpers/filters/coding_library.h"
#include "lib/mem.h"

#define WINDOW_BITS	(MAX_WBITS + 16)	/* gzip, not zlib */

static void *
begin_encoding(int level, int64_t size)
{
	z_stream	*z = mem_zero(sizeof(*z));

	(void)size;
	if (deflateInit2(z, level, Z_DEFLATED, WINDOW_BITS, 8,
	    Z_DEFAULT_STRATEGY) != Z_OK)
		mem_drop(&z);
	return z;
}

/* Blocks are smaller than what zlib can count. */
static void
give_blocks(z_stream *z, const struct coding_blocks *b)
{
	/* Drops const: zlib only reads. */
	memcpy(&z->next_in, &b->in, sizeof(b->in));
	z->avail_in = (uInt)b->in_len;
	z->next_out = b->out;
	z->avail_out = (uInt)b->out_len;
}

static void
take_blocks(const z_stream *z, struct coding_blocks *b)
{
	b->in = z->next_in;
	b->in_len = z->avail_in;
	b->out = z->next_out;
	b->out_len = z->avail_out;
}

static enum coding_state
encode(void *stream, struct coding_blocks *b, bool last)
{
	z_stream	*z = stream;

	give_blocks(z, b);
	deflate(z, last ? Z_FINISH : Z_NO_FLUSH);	/* cannot fail */
	take_blocks(z, b);
	return b->out_len == 0 ? CODING_GOES_ON : CODING_ENDED;
}

static void
end_encoding(void *stream)
{
	z_stream	*z = stream;

	deflateEnd(z);
	mem_drop(&z);
}

static void *
begin_decoding(void)
{
	z_stream	*z = mem_zero(sizeof(*z));

	if (inflateInit2(z, WINDOW_BITS) != Z_OK)
		mem_drop(&z);
	return z;
}

static enum coding_state
decode(void *stream, struct coding_blocks *b)
{
	z_stream	*z = stream;
	int		 state;

	give_blocks(z, b);
	state = inflate(z, Z_NO_FLUSH);
	take_blocks(z, b);
	return state == Z_STREAM_END ? CODING_ENDED :
	    state == Z_OK || state == Z_BUF_ERROR ? CODING_GOES_ON :
	    CODING_FAILED;
}

static void
end_decoding(void *stream)
{
	z_stream	*z = stream;

	inflateEnd(z);
	mem_drop(&z);
}

const struct coding_library	coding_gzip = {
	begin_encoding, encode, end_encoding, begin_decoding, decode,
	end_decoding
};
