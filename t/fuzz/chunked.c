/* Fuzz target of proto/chunked: a body, whole and byte by byte, must come to
 * the same end; an accepted body must be valid by a slower reading, line by
 * line. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/need.h"
#include "proto/chunked.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static const struct chunked_limits limits = { 600, 50, 100, 4 };

/* The length of the line at a place, without CRLF, which must be there. */
static size_t
skip_line(const char *bytes, size_t len, size_t at)
{
	const char	*lf = memchr(bytes + at, '\n', len - at);

	need(lf != NULL && lf > bytes + at && lf[-1] == '\r');
	return (size_t)(lf - 1 - (bytes + at));
}

static void
check_body(const char *bytes, size_t len)
{
	unsigned long	size;
	size_t		at = 0, n;
	char		digits[64];

	need(len <= limits.body);
	do {
		n = skip_line(bytes, len, at);
		need(n > 0 && n < limits.line);
		memcpy(digits, bytes + at, n);
		digits[n] = '\0';
		digits[strspn(digits, "0123456789abcdefABCDEF")] = '\0';
		size = strtoul(digits, NULL, 16);
		at += n + 2;
		if (size == 0)
			break;
		need(size < len - at);
		at += size;
		need(skip_line(bytes, len, at) == 0);
		at += 2;
	} while (true);
	while ((n = skip_line(bytes, len, at)) > 0) {
		need(memchr(bytes + at, ':', n) != NULL);
		at += n + 2;
	}
	need(at + 2 == len);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char		*bytes = (const char *)data;
	struct chunked		 whole = { 0 }, slow = { 0 };
	enum chunked_result	 a, b = CHUNKED_MORE;
	size_t			 used, n = 0, one;

	a = chunked_feed(&whole, &limits, bytes, len, &used);
	need(used <= len && (a != CHUNKED_MORE || used == len));
	for (; n < len && b == CHUNKED_MORE; n += one)
		b = chunked_feed(&slow, &limits, bytes + n, 1, &one);
	need(a == b && n == used);
	need(whole.status == slow.status && whole.why == slow.why);
	need((a == CHUNKED_REFUSED) == (whole.status >= 400));
	need(a != CHUNKED_MORE || len <= limits.body);
	if (a == CHUNKED_DONE)
		check_body(bytes, used);
	return 0;
}
