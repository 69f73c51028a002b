/*
 * charset: converts a text from one character set to another, by iconv(3).
 */
#include <errno.h>
#include <iconv.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "helpers/filters/filter.h"

#define BLOCK_SIZE	(64 * 1024)

/* Converts a block; NULL: the end. */
static size_t
convert_block(iconv_t state, char **in, size_t *left)
{
	static char	 block[BLOCK_SIZE];
	char		*out = block;
	size_t		 room = sizeof(block), n;

	n = iconv(state, in, left, &out, &room);
	filter_write(block, sizeof(block) - room);
	return n;
}

/* Converts what is whole, and drops it; -1 with errno, EINVAL: the end is not
 * whole. */
static int
convert_input(iconv_t state, struct buf *input)
{
	char	*in = input->at;
	size_t	 left = input->len, n;

	do
		n = convert_block(state, &in, &left);
	while (n == (size_t)-1 && errno == E2BIG);
	buf_consume(input, input->len - left);
	return n == (size_t)-1 ? -1 : 0;
}

/* Converts all; the number of bytes before what is wrong, or -1. */
static int64_t
convert_all(iconv_t state)
{
	struct buf	input = { 0 };
	int64_t		taken = 0;
	int		result = 0;
	bool		more = true;

	while (more && (result == 0 || errno == EINVAL)) {
		more = filter_next(&input);
		taken += (int64_t)input.len;
		result = convert_input(state, &input);
		taken -= (int64_t)input.len;
	}
	if (result == 0 && convert_block(state, NULL, NULL) == (size_t)-1)
		result = -1;
	buf_free(&input);
	return result == 0 ? -1 : taken;
}

int
charset_filter(const char *from, const char *to)
{
	iconv_t	state = iconv_open(to, from);
	int64_t	wrong;

	if (state == (iconv_t)-1) {
		fprintf(stderr, "cannot convert from %s to %s: %s\n", from, to,
		    strerror(errno));
		return EX_USAGE;
	}
	filter_confine(NULL);
	wrong = convert_all(state);
	if (wrong != -1)
		fprintf(stderr, "not a text in %s, at byte %" PRId64 ": %s\n",
		    from, wrong, strerror(errno));
	iconv_close(state);
	return wrong != -1 ? EX_DATAERR : EX_OK;
}
