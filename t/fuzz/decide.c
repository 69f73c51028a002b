/*
 * Fuzz target of http/decide.  One field a line, in the order of struct
 * decide_ask, then the tag; an empty line is a field that was not sent.  The
 * first eight bytes are the size of the file.
 */
#include <string.h>

#include "http/decide.h"
#include "lib/need.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static struct str
take_line(struct str *rest)
{
	const char	*end = memchr(rest->at, '\n', rest->len);
	struct str	 line = *rest;

	if (end != NULL)
		line.len = (size_t)(end - rest->at);
	rest->at += line.len + (end != NULL);
	rest->len -= line.len + (end != NULL);
	if (line.len == 0)
		line.at = NULL;
	return line;
}

/* Inside of the file; no two overlap or touch. */
static void
check_parts(const struct decide_answer *a, int64_t size)
{
	const struct decide_range	*p, *q;

	need(a->n > 0 && a->n <= DECIDE_RANGES);
	for (p = a->part; p < a->part + a->n; p++) {
		need(p->first >= 0 && p->length > 0);
		need(p->length <= size && p->first <= size - p->length);
		for (q = a->part; q < p; q++)
			need(p->first > q->first + q->length ||
			    q->first > p->first + p->length);
	}
}

static void
check(const struct decide_ask *ask, int64_t size,
    const struct decide_answer *a)
{
	switch (a->status) {
	case 200:
		break;
	case 206:
		need(ask->range.at != NULL);
		check_parts(a, size);
		break;
	case 304:
		need(ask->if_none_match.at != NULL ||
		    ask->if_modified_since.at != NULL);
		break;
	case 412:
		need(ask->if_match.at != NULL ||
		    ask->if_unmodified_since.at != NULL);
		break;
	case 416:
		need(ask->range.at != NULL);
		break;
	default:
		need(!"a status of decide()");
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct str		rest;
	struct decide_ask	ask;
	struct decide_answer	answer;
	struct decide_have	have = {
		.modified = 784111777, .now = 784112777
	};

	if (len < sizeof(have.size))
		return 0;
	memcpy(&have.size, data, sizeof(have.size));
	have.size &= INT64_MAX;
	rest = (struct str){
		(const char *)data + sizeof(have.size), len - sizeof(have.size)
	};
	ask.if_match = take_line(&rest);
	ask.if_none_match = take_line(&rest);
	ask.if_modified_since = take_line(&rest);
	ask.if_unmodified_since = take_line(&rest);
	ask.if_range = take_line(&rest);
	ask.range = take_line(&rest);
	have.etag = take_line(&rest);
	decide(&ask, &have, &answer);
	check(&ask, have.size, &answer);

	/* What is equal strongly is equal weakly. */
	need(!decide_etag_strong(ask.if_match, have.etag) ||
	    decide_etag_weak(ask.if_match, have.etag));
	return 0;
}
