/*
 * gzip: the only file that includes zlib.
 *
 * Must not use more memory for a large file than for a small one.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "helpers/gzip.h"
#include "lib/io.h"
#include "lib/mem.h"

#define BLOCK_SIZE	(64 * 1024)	/* bytes read and written at once */
#define WINDOW_BITS	(MAX_WBITS + 16)	/* gzip, not zlib */

/* Once for each version of a file, so not the fastest level; higher levels take
 * twice the time for one percent. */
#define LEVEL	6

struct work {
	z_stream	z;
	unsigned char	in[BLOCK_SIZE], out[BLOCK_SIZE];
};

/* Reads the next block of a file as input; 0 at its end, -1 with errno. */
static ssize_t
read_block(struct work *w, int fd, off_t *at)
{
	ssize_t	n;

	do
		n = pread(fd, w->in, sizeof(w->in), *at);
	while (n == -1 && errno == EINTR);
	if (n > 0)
		*at += n;
	w->z.next_in = w->in;
	w->z.avail_in = n > 0 ? (unsigned)n : 0;
	return n;
}

/* Compresses all input; 0 or an errno. */
static int
deflate_block(struct work *w, int flush, int to, int64_t limit, int64_t *size)
{
	size_t	n;

	do {
		w->z.next_out = w->out;
		w->z.avail_out = sizeof(w->out);
		deflate(&w->z, flush);	/* fails only by a bug of ours */
		n = sizeof(w->out) - w->z.avail_out;
		*size += (int64_t)n;
		if (*size >= limit)
			return EFBIG;
		if (io_write_all(to, w->out, n) == -1)
			return errno;
	} while (w->z.avail_out == 0);
	return 0;
}

static int
deflate_all(struct work *w, int from, int to, int64_t limit, int64_t *size)
{
	off_t	at = 0;
	ssize_t	n;
	int	error;

	do {
		n = read_block(w, from, &at);
		error = n == -1 ? errno : deflate_block(w,
		    n == 0 ? Z_FINISH : Z_NO_FLUSH, to, limit, size);
	} while (error == 0 && n > 0);
	return error;
}

int
gzip_compress(int from, int to, int64_t limit, int64_t *size)
{
	struct work	*w = mem_zero(sizeof(*w));
	int		 error = ENOMEM;

	*size = 0;
	if (deflateInit2(&w->z, LEVEL, Z_DEFLATED, WINDOW_BITS, 8,
	    Z_DEFAULT_STRATEGY) == Z_OK) {
		error = deflate_all(w, from, to, limit, size);
		deflateEnd(&w->z);
	}
	mem_drop(&w);
	return error;
}

/* True if the stream is intact and ends where the file ends. */
static bool
inflate_all(struct work *w, int fd)
{
	off_t	at = 0;
	int	state = Z_OK;

	while (state == Z_OK) {
		if (w->z.avail_in == 0 && read_block(w, fd, &at) <= 0)
			return false;
		w->z.next_out = w->out;
		w->z.avail_out = sizeof(w->out);
		state = inflate(&w->z, Z_NO_FLUSH);
	}
	return state == Z_STREAM_END && w->z.avail_in == 0 &&
	    read_block(w, fd, &at) == 0;
}

bool
gzip_intact(int fd, int64_t size)
{
	struct work	*w = mem_zero(sizeof(*w));
	bool		 intact = false;

	if (inflateInit2(&w->z, WINDOW_BITS) == Z_OK) {
		intact = inflate_all(w, fd) && (int64_t)w->z.total_out == size;
		inflateEnd(&w->z);
	}
	mem_drop(&w);
	return intact;
}
