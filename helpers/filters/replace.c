/*
 * replace: puts one text in place of another.
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "helpers/filters/filter.h"

int
replace_filter(struct str input, const char *from, const char *to)
{
	size_t		 len = strlen(from);
	const char	*found;

	if (len == 0) {
		fputs("replace needs a text to be replaced\n", stderr);
		return EX_USAGE;
	}
	while ((found = memmem(input.at, input.len, from, len)) != NULL) {
		filter_write(input.at, (size_t)(found - input.at));
		filter_write(to, strlen(to));
		str_skip(&input, (size_t)(found - input.at) + len);
	}
	filter_write(input.at, input.len);
	return EX_OK;
}
