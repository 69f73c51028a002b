/* Fuzz target of proto/cgi_head: a head, whole and byte by byte, must come to
 * the same end; the lines of an accepted one must be all that it consists of,
 * and hold no byte that ends a line. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/need.h"
#include "proto/cgi_head.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static bool
is_harmless(struct str s)
{
	return memchr(s.at, '\r', s.len) == NULL &&
	    memchr(s.at, '\n', s.len) == NULL &&
	    memchr(s.at, '\0', s.len) == NULL;
}

static size_t
count_lines(const char *at, size_t len)
{
	size_t	n = 0;

	for (size_t i = 0; i < len; i++)
		n += at[i] == '\n';
	return n;
}

static void
check_head(const struct cgi_head *h, const char *head)
{
	struct str	name, value;
	uint32_t	at = 0;
	size_t		n = 0;

	while (cgi_head_next(h, head, &at, &name, &value)) {
		need(name.len > 0 && is_harmless(name) && is_harmless(value));
		n++;
	}
	need(at == h->size && head[h->size - 1] == '\n');
	need(count_lines(head, h->size) - n <= 2);
	need(h->status == 0 || (h->status >= 200 && h->status < 600));
	need(h->length >= -1);
	need(!cgi_head_is_local(h, head) || n == 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char		*bytes = (const char *)data;
	struct cgi_head		 whole = { 0 }, slow = { 0 };
	enum cgi_head_result	 a, b = CGI_HEAD_MORE;

	a = cgi_head_feed(&whole, bytes, len);
	for (size_t n = 0; n <= len && b == CGI_HEAD_MORE; n++)
		b = cgi_head_feed(&slow, bytes, n);
	need(a == b && whole.why == slow.why && whole.size == slow.size);
	need((a == CGI_HEAD_REFUSED) == (whole.why != NULL));
	if (a == CGI_HEAD_DONE)
		check_head(&whole, bytes);
	return 0;
}
