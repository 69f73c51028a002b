/*
 * replace: puts one text in place of another.
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "helpers/filters/filter.h"

/* How many bytes at the end may be the begin of the text. */
static size_t
count_begun(const struct buf *input, const char *from, size_t len)
{
	size_t	n = input->len < len ? input->len : len - 1;

	while (n > 0 && memcmp(input->at + input->len - n, from, n) != 0)
		n--;
	return n;
}

/* Writes what is certain, and drops it. */
static void
write_replaced(struct buf *input, const char *from, const char *to)
{
	size_t		 len = strlen(from), begun;
	struct str	 rest = { input->at, input->len };
	const char	*found;

	while ((found = memmem(rest.at, rest.len, from, len)) != NULL) {
		filter_write(rest.at, (size_t)(found - rest.at));
		filter_write(to, strlen(to));
		str_skip(&rest, (size_t)(found - rest.at) + len);
	}
	buf_consume(input, input->len - rest.len);
	begun = count_begun(input, from, len);
	filter_write(input->at, input->len - begun);
	buf_consume(input, input->len - begun);
}

int
replace_filter(const char *from, const char *to)
{
	struct buf	input = { 0 };

	if (from[0] == '\0') {
		fputs("replace needs a text to be replaced\n", stderr);
		return EX_USAGE;
	}
	filter_confine(NULL);
	while (filter_next(&input))
		write_replaced(&input, from, to);
	filter_write(input.at, input.len);
	buf_free(&input);
	return EX_OK;
}
