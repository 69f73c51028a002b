/*
 * charset: converts a text from one character set to another, by iconv(3).
 */
#include <errno.h>
#include <iconv.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "helpers/filters/filter.h"

#define BLOCK_SIZE	(64 * 1024)

/* Converts what is left of the input; NULL: the end. */
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

int
charset_filter(struct str input, const char *from, const char *to)
{
	iconv_t	 state = iconv_open(to, from);
	char	*in;
	size_t	 left = input.len, n;

	if (state == (iconv_t)-1) {
		fprintf(stderr, "cannot convert from %s to %s: %s\n", from, to,
		    strerror(errno));
		return EX_USAGE;
	}
	/* Drops const: iconv() only reads. */
	memcpy(&in, &input.at, sizeof(in));
	do
		n = convert_block(state, &in, &left);
	while (n == (size_t)-1 && errno == E2BIG);
	if (n != (size_t)-1)
		n = convert_block(state, NULL, NULL);
	if (n == (size_t)-1)
		fprintf(stderr, "not a text in %s, at byte %zu: %s\n", from,
		    input.len - left, strerror(errno));
	iconv_close(state);
	return n == (size_t)-1 ? EX_DATAERR : EX_OK;
}
