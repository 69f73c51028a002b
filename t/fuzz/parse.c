/* Fuzz target of proto/parse: a request, whole and byte by byte, must come to
 * the same result, and all spans of a result must be in the head. */
#include <stdlib.h>
#include <string.h>

#include "lib/need.h"
#include "proto/parse.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static const struct parse_limits limits = { 200, 1000, 12 };

/* From memory that ends with the last byte. */
static enum parse_result
feed_bytes(struct parse *p, const char *bytes, size_t len)
{
	char			*copy = malloc(len > 0 ? len : 1);
	enum parse_result	 result;

	need(copy != NULL);
	if (len > 0)
		memcpy(copy, bytes, len);
	result = parse_feed(p, &limits, copy, len);
	free(copy);
	return result;
}

static void
start_parse(struct parse *p)
{
	memset(p, 0xa5, sizeof(*p));
	parse_init(p);
}

static bool
is_same(struct span a, struct span b)
{
	return a.at == b.at && a.len == b.len;
}

static void
compare_results(const struct parse *a, const struct parse *b)
{
	need(a->status == b->status && a->why == b->why);
	if (a->status != 0)
		return;
	need(a->size == b->size && a->method == b->method);
	need(a->minor == b->minor && a->content_length == b->content_length);
	need(a->close == b->close && a->keep_alive == b->keep_alive);
	need(a->chunked == b->chunked && a->absolute == b->absolute);
	need(a->present == b->present && a->repeated == b->repeated);
	need(is_same(a->request_line, b->request_line));
	need(is_same(a->target, b->target) && is_same(a->path, b->path));
	need(is_same(a->query, b->query) && is_same(a->host, b->host));
	for (int f = 0; f < FIELD_COUNT; f++)
		need(!parse_has(a, f) || is_same(a->field[f], b->field[f]));
}

static void
check_span(struct span s, size_t size)
{
	need(s.at <= size && s.len <= size - s.at);
}

/* All lines of a field: one, or several if recorded; the first as stored. */
static void
check_lines(const struct parse *p, const char *head, enum parse_field f)
{
	struct str	value;
	uint32_t	at = 0;
	unsigned	n = 0;

	while (parse_next(p, head, f, &at, &value)) {
		need(value.at >= head && value.at + value.len <= head + p->size);
		need(n++ > 0 || str_same(value, parse_field(p, head, f)));
	}
	need((n > 0) == parse_has(p, f));
	need((n > 1) == ((p->repeated & 1u << f) != 0));
}

/* The name is the host without port and without a dot at its end. */
static void
check_name(struct str name, struct str host)
{
	size_t	rest = host.len - name.len;

	need(name.at == host.at && name.len <= host.len);
	need(name.len > 0 || host.len == 0 || host.at[0] == '.');
	if (rest > 0 && name.at[name.len] == '.')
		name.len++, rest--;
	need(rest == 0 || name.at[name.len] == ':');
	for (size_t i = 1; i < rest; i++)
		need(name.at[name.len + i] >= '0' &&
		    name.at[name.len + i] <= '9');
}

static void
check_request(const struct parse *p, const char *head, size_t len)
{
	struct str	host = parse_str(head, p->host);
	struct str	name = parse_host_name(p, head);

	need(p->size <= len && p->size <= limits.head);
	need(memcmp(head + p->size - 4, "\r\n\r\n", 4) == 0);
	need(p->request_line.len + 2 <= limits.line);
	need(memchr(head + p->request_line.at, '\n', p->request_line.len) ==
	    NULL);
	check_span(p->request_line, p->size);
	check_span(p->target, p->size);
	check_span(p->path, p->size);
	check_span(p->query, p->size);
	check_span(p->host, p->size);
	need(p->path.len > 0 || p->method == METHOD_CONNECT);
	need(p->path.len == 0 || head[p->path.at] == '/' ||
	    (p->method == METHOD_OPTIONS && p->path.len == 1));
	need(host.len == 0 || parse_host_valid(host));
	check_name(name, host);
	for (int f = 0; f < FIELD_COUNT; f++) {
		if (parse_has(p, f))
			check_span(p->field[f], p->size);
		check_lines(p, head, f);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char		*bytes = (const char *)data;
	struct parse		 whole, slow;
	enum parse_result	 a, b = PARSE_MORE;

	start_parse(&whole);
	a = feed_bytes(&whole, bytes, len);
	start_parse(&slow);
	for (size_t n = 0; n <= len && b == PARSE_MORE; n++)
		b = feed_bytes(&slow, bytes, n);
	need(a == b);
	compare_results(&whole, &slow);
	need(a != PARSE_MORE || len < limits.head);
	if (a == PARSE_REFUSED)
		need(whole.status >= 400 && whole.why != NULL);
	if (a == PARSE_DONE)
		check_request(&whole, bytes, len);
	return 0;
}
