/*
 * decode: decodes standard input by a library of the system alone: t/decode br
 * or zstd.  Exits with status 1 unless the input is one whole stream.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#ifdef HAVE_BROTLI
#include <brotli/decode.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#define INPUT_MAX	(64 * 1024 * 1024)	/* bytes */

static unsigned char	input[INPUT_MAX], output[256 * 1024];

#ifdef HAVE_BROTLI
static bool
decode_br(size_t len)
{
	BrotliDecoderState	*s;
	BrotliDecoderResult	 result;
	const unsigned char	*in = input;
	unsigned char		*out;
	size_t			 room;

	s = BrotliDecoderCreateInstance(NULL, NULL, NULL);
	do {
		out = output;
		room = sizeof(output);
		result = BrotliDecoderDecompressStream(s, &len, &in, &room,
		    &out, NULL);
		fwrite(output, 1, sizeof(output) - room, stdout);
	} while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT);
	BrotliDecoderDestroyInstance(s);
	return result == BROTLI_DECODER_RESULT_SUCCESS && len == 0;
}
#endif

#ifdef HAVE_ZSTD
static bool
decode_zstd(size_t len)
{
	ZSTD_DStream	*s = ZSTD_createDStream();
	ZSTD_inBuffer	 in = { input, len, 0 };
	ZSTD_outBuffer	 out;
	size_t		 left;

	do {
		out = (ZSTD_outBuffer){ output, sizeof(output), 0 };
		left = ZSTD_decompressStream(s, &out, &in);
		fwrite(output, 1, out.pos, stdout);
	} while (!ZSTD_isError(left) && left != 0 &&
	    (in.pos < len || out.pos == sizeof(output)));
	ZSTD_freeDStream(s);
	return left == 0 && in.pos == len;
}
#endif

int
main(int argc, char **argv)
{
	const char	*coding = argc == 2 ? argv[1] : "";
	size_t		 len = fread(input, 1, sizeof(input), stdin);
	bool		 done = false;

#ifdef HAVE_BROTLI
	if (strcmp(coding, "br") == 0)
		done = decode_br(len);
#endif
#ifdef HAVE_ZSTD
	if (strcmp(coding, "zstd") == 0)
		done = decode_zstd(len);
#endif
	if (!done)
		fprintf(stderr, "decode: %zu bytes are no stream of \"%s\"\n",
		    len, coding);
	return done && fflush(stdout) == 0 ? 0 : 1;
}
