/*
 * coding_br: the only file that includes brotli's library.
 */
#include "helpers/filters/coding_library.h"

#ifdef HAVE_BROTLI
#include <brotli/decode.h>
#include <brotli/encode.h>

static void *
begin_encoding(int level, int64_t size)
{
	BrotliEncoderState	*s;

	s = BrotliEncoderCreateInstance(NULL, NULL, NULL);
	if (s == NULL)
		return NULL;
	BrotliEncoderSetParameter(s, BROTLI_PARAM_QUALITY, (uint32_t)level);
	BrotliEncoderSetParameter(s, BROTLI_PARAM_SIZE_HINT,
	    size < UINT32_MAX ? (uint32_t)size : UINT32_MAX);
	return s;
}

static enum coding_state
encode(void *stream, struct coding_blocks *b, bool last)
{
	BrotliEncoderState	*s = stream;

	if (!BrotliEncoderCompressStream(s, last ? BROTLI_OPERATION_FINISH :
	    BROTLI_OPERATION_PROCESS, &b->in_len, &b->in, &b->out_len, &b->out,
	    NULL))
		return CODING_FAILED;
	return b->in_len > 0 || BrotliEncoderHasMoreOutput(s) ||
	    (last && !BrotliEncoderIsFinished(s)) ? CODING_GOES_ON :
	    CODING_ENDED;
}

static void
end_encoding(void *stream)
{
	BrotliEncoderDestroyInstance(stream);
}

static void *
begin_decoding(void)
{
	return BrotliDecoderCreateInstance(NULL, NULL, NULL);
}

static enum coding_state
decode(void *stream, struct coding_blocks *b)
{
	switch (BrotliDecoderDecompressStream(stream, &b->in_len, &b->in,
	    &b->out_len, &b->out, NULL)) {
	case BROTLI_DECODER_RESULT_SUCCESS:
		return CODING_ENDED;
	case BROTLI_DECODER_RESULT_ERROR:
		return CODING_FAILED;
	default:
		return CODING_GOES_ON;
	}
}

static void
end_decoding(void *stream)
{
	BrotliDecoderDestroyInstance(stream);
}

const struct coding_library	coding_br = {
	begin_encoding, encode, end_encoding, begin_decoding, decode,
	end_decoding
};
#endif
