/*
 * lines: counts lines, and finds where one ends.
 */
#include <string.h>

#include "lib/lines.h"

uint64_t
lines_count(const char *at, size_t len)
{
	uint64_t	 n = 0;
	const char	*end = at + len;

	while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL)
		n++, at++;
	return n;
}

size_t
lines_whole(const char *at, size_t len, size_t max)
{
	const char	*end;

	if (len <= max)
		return len;
	end = memrchr(at, '\n', max);
	return end != NULL ? (size_t)(end - at) + 1 : max;
}

size_t
lines_first(const char *at, size_t len)
{
	const char	*end = memchr(at, '\n', len);

	return end != NULL ? (size_t)(end - at) + 1 : len;
}
