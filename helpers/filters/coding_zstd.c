/*
 * coding_zstd: the only file that includes zstd's library.
 *
 * No level that a conf can have takes a window of more than 8 MB.
 */
#include "helpers/filters/coding_library.h"

#ifdef HAVE_ZSTD
#include <zstd.h>

static void *
begin_encoding(int level, int64_t size)
{
	ZSTD_CStream	*s = ZSTD_createCStream();

	if (s == NULL)
		return NULL;
	ZSTD_CCtx_setParameter(s, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(s, ZSTD_c_checksumFlag, 1);
	ZSTD_CCtx_setPledgedSrcSize(s, (unsigned long long)size);
	return s;
}

static enum coding_state
encode(void *stream, struct coding_blocks *b, bool last)
{
	ZSTD_inBuffer	in = { b->in, b->in_len, 0 };
	ZSTD_outBuffer	out = { b->out, b->out_len, 0 };
	size_t		left = ZSTD_compressStream2(stream, &out, &in,
			    last ? ZSTD_e_end : ZSTD_e_continue);

	b->in += in.pos;
	b->in_len -= in.pos;
	b->out += out.pos;
	b->out_len -= out.pos;
	if (ZSTD_isError(left))
		return CODING_FAILED;
	return b->in_len > 0 || (last && left > 0) ? CODING_GOES_ON :
	    CODING_ENDED;
}

static void
end_encoding(void *stream)
{
	ZSTD_freeCStream(stream);
}

static void *
begin_decoding(void)
{
	return ZSTD_createDStream();
}

static enum coding_state
decode(void *stream, struct coding_blocks *b)
{
	ZSTD_inBuffer	in = { b->in, b->in_len, 0 };
	ZSTD_outBuffer	out = { b->out, b->out_len, 0 };
	size_t		left = ZSTD_decompressStream(stream, &out, &in);

	b->in += in.pos;
	b->in_len -= in.pos;
	b->out += out.pos;
	b->out_len -= out.pos;
	return ZSTD_isError(left) ? CODING_FAILED :
	    left == 0 ? CODING_ENDED : CODING_GOES_ON;
}

static void
end_decoding(void *stream)
{
	ZSTD_freeDStream(stream);
}

const struct coding_library	coding_zstd = {
	begin_encoding, encode, end_encoding, begin_decoding, decode,
	end_decoding
};
#endif
