/*
 * coding: compresses and checks files, by the libraries of the codings.
 *
 * Must not use more memory for a large file than for a small one.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "helpers/filters/coding.h"
#include "helpers/filters/coding_library.h"
#include "lib/io.h"
#include "lib/mem.h"

#define BLOCK_SIZE	(64 * 1024)	/* bytes read and written at once */

static const struct coding_library *const libraries[CODING_COUNT] = {
#ifdef HAVE_BROTLI
	[CODING_BR] = &coding_br,
#endif
#ifdef HAVE_ZSTD
	[CODING_ZSTD] = &coding_zstd,
#endif
	[CODING_GZIP] = &coding_gzip
};

static const struct {
	const char	*name, *suffix;
} names[CODING_COUNT] = {
#define X(id, name, suffix) { name, suffix },
	CODINGS(X)
#undef X
};

struct work {
	const struct coding_library	*library;
	void				*stream;
	struct coding_blocks		 blocks;
	off_t				 at;		/* in the file read */
	int64_t				 written;	/* bytes */
	unsigned char			 in[BLOCK_SIZE], out[BLOCK_SIZE];
	unsigned char			 wanted[BLOCK_SIZE];	/* output */
};

const char *
coding_name(enum coding coding)
{
	return names[coding].name;
}

const char *
coding_suffix(enum coding coding)
{
	return names[coding].suffix;
}

bool
coding_is_built(enum coding coding)
{
	return libraries[coding] != NULL;
}

/* Reads the next block of a file as input; 0 at its end, -1 with errno. */
static ssize_t
read_block(struct work *w, int fd)
{
	ssize_t	n;

	do
		n = pread(fd, w->in, sizeof(w->in), w->at);
	while (n == -1 && errno == EINTR);
	w->blocks.in = w->in;
	w->blocks.in_len = n > 0 ? (size_t)n : 0;
	w->at += (off_t)w->blocks.in_len;
	return n;
}

static void
empty_output(struct work *w)
{
	w->blocks.out = w->out;
	w->blocks.out_len = sizeof(w->out);
}

/* Compresses all input; 0 or an errno. */
static int
encode_block(struct work *w, bool last, int to, int64_t limit)
{
	enum coding_state	state;
	size_t			n;

	do {
		empty_output(w);
		state = w->library->encode(w->stream, &w->blocks, last);
		if (state == CODING_FAILED)
			return ENOMEM;
		n = sizeof(w->out) - w->blocks.out_len;
		w->written += (int64_t)n;
		if (w->written >= limit)
			return EFBIG;
		if (io_write_all(to, w->out, n) == -1)
			return errno;
	} while (state == CODING_GOES_ON);
	return 0;
}

static int
encode_all(struct work *w, int from, int64_t size, int to, int64_t limit)
{
	ssize_t	n;
	int	error = 0;

	while (error == 0 && w->at < size) {
		n = read_block(w, from);
		if (n <= 0)
			return n == 0 ? EAGAIN : errno;
		if (w->at > size)
			return EAGAIN;
		error = encode_block(w, false, to, limit);
	}
	return error != 0 ? error : encode_block(w, true, to, limit);
}

int
coding_compress(enum coding coding, int level, int from, int64_t size, int to,
    int64_t limit, int64_t *result)
{
	struct work	*w = mem_zero(sizeof(*w));
	int		 error = ENOMEM;

	w->library = libraries[coding];
	w->stream = w->library->begin_encoding(level, size);
	if (w->stream != NULL) {
		error = encode_all(w, from, size, to, limit);
		w->library->end_encoding(w->stream);
	}
	*result = w->written;
	mem_drop(&w);
	return error;
}

/* Compares n bytes of output with a file.  br has no check sum, so nothing else
 * tells that a byte of it has changed. */
static bool
is_wanted(struct work *w, size_t n, int from)
{
	ssize_t	have;

	for (size_t done = 0; done < n; done += (size_t)have) {
		have = pread(from, w->wanted + done, n - done,
		    (off_t)(w->written + (int64_t)done));
		if (have == -1 && errno == EINTR)
			have = 0;
		else if (have <= 0)
			return false;
	}
	w->written += (int64_t)n;
	return memcmp(w->wanted, w->out, n) == 0;
}

/* True if the stream is intact, ends where the file ends, and has the bytes of
 * the other file. */
static bool
decode_all(struct work *w, int fd, int from, int64_t size)
{
	enum coding_state	state = CODING_GOES_ON;
	bool			full = false;

	while (state == CODING_GOES_ON) {
		if (w->blocks.in_len == 0 && !full && read_block(w, fd) <= 0)
			return false;
		empty_output(w);
		state = w->library->decode(w->stream, &w->blocks);
		if (!is_wanted(w, sizeof(w->out) - w->blocks.out_len, from))
			return false;
		full = w->blocks.out_len == 0;
	}
	return state == CODING_ENDED && w->written == size &&
	    w->blocks.in_len == 0 && read_block(w, fd) == 0;
}

bool
coding_is_intact(enum coding coding, int fd, int from, int64_t size)
{
	struct work	*w = mem_zero(sizeof(*w));
	bool		 intact = false;

	w->library = libraries[coding];
	w->stream = w->library->begin_decoding();
	if (w->stream != NULL) {
		intact = decode_all(w, fd, from, size);
		w->library->end_decoding(w->stream);
	}
	mem_drop(&w);
	return intact;
}
