/*
 * fastcgi: encodes requests; decodes answers, which may be divided anywhere.
 */
#include <string.h>

#include "lib/compiler.h"
#include "lib/need.h"
#include "proto/fastcgi.h"

#define VERSION		1
#define KEEP_CONN	1	/* a flag (section 5.1) */
#define LENGTH_MAX	127	/* of a name or value, in one byte */
#define PAIR_MORE	8	/* bytes of both lengths at most */

/*
 * Requests
 */

size_t
fastcgi_open(struct buf *to, enum fastcgi_type type, uint16_t id)
{
	const uint8_t	header[FASTCGI_HEADER] = {
		VERSION, (uint8_t)type, (uint8_t)(id >> 8), (uint8_t)id
	};
	size_t		record = to->len;

	buf_add(to, header, sizeof(header));
	return record;
}

void
fastcgi_close(struct buf *to, size_t record)
{
	static const char	zeros[8];
	size_t			len = to->len - record - FASTCGI_HEADER;
	size_t			padding = -len & 7;
	uint8_t			*header = (uint8_t *)to->at + record;

	need(len <= FASTCGI_CONTENT_MAX);
	header[4] = (uint8_t)(len >> 8);
	header[5] = (uint8_t)len;
	header[6] = (uint8_t)padding;
	buf_add(to, zeros, padding);
}

/* A length (section 3.4). */
static char *
put_length(char *to, size_t n)
{
	if (n > LENGTH_MAX) {
		*to++ = (char)(n >> 24 | 0x80);
		*to++ = (char)(n >> 16);
		*to++ = (char)(n >> 8);
	}
	*to++ = (char)n;
	return to;
}

static void
add_pair(struct buf *to, struct str name, struct str value)
{
	char	*at;

	buf_reserve(to, PAIR_MORE + name.len + value.len);
	at = put_length(to->at + to->len, name.len);
	at = put_length(at, value.len);
	memcpy(at, name.at, name.len);
	memcpy(at + name.len, value.at, value.len);
	to->len = (size_t)(at + name.len + value.len - to->at);
}

/* Divides the content of a record that is longer than a record's may be. */
static NOINLINE void
divide_record(struct buf *to, size_t record, uint16_t id)
{
	struct buf	all = { 0 };
	struct str	rest;

	buf_add(&all, to->at + record + FASTCGI_HEADER,
	    to->len - record - FASTCGI_HEADER);
	rest = (struct str){ all.at, all.len };
	to->len = record;
	while (rest.len > FASTCGI_CONTENT_MAX) {
		record = fastcgi_open(to, FASTCGI_PARAMS, id);
		buf_add(to, rest.at, FASTCGI_CONTENT_MAX);
		fastcgi_close(to, record);
		str_skip(&rest, FASTCGI_CONTENT_MAX);
	}
	record = fastcgi_open(to, FASTCGI_PARAMS, id);
	buf_add(to, rest.at, rest.len);
	fastcgi_close(to, record);
	buf_wipe(&all);
}

/* A stream: records, and one without content at its end. */
static void
add_params(struct buf *to, uint16_t id, struct str environment)
{
	size_t		record = fastcgi_open(to, FASTCGI_PARAMS, id), n;
	struct str	text, name;

	while (environment.len > 0) {
		text = str_cut(&environment, '\0');
		name = str_cut(&text, '=');
		add_pair(to, name, text);
	}
	n = to->len - record - FASTCGI_HEADER;
	if (n > FASTCGI_CONTENT_MAX)
		divide_record(to, record, id);
	else
		fastcgi_close(to, record);
	if (n > 0)
		fastcgi_close(to, fastcgi_open(to, FASTCGI_PARAMS, id));
}

void
fastcgi_add_head(struct buf *to, uint16_t id, enum fastcgi_role role,
    struct str environment, bool keep)
{
	const uint8_t	begin[8] = { 0, (uint8_t)role, keep ? KEEP_CONN : 0 };
	size_t		record;

	/* As a rule this is all of a request. */
	buf_reserve(to, environment.len + environment.len / 8 + 128);
	record = fastcgi_open(to, FASTCGI_BEGIN_REQUEST, id);
	buf_add(to, begin, sizeof(begin));
	fastcgi_close(to, record);
	add_params(to, id, environment);
}

/*
 * Answers
 */

/* Takes bytes until there are size; true: there are. */
static bool
collect_bytes(uint8_t *to, uint8_t *n, size_t size, struct str *input)
{
	size_t	more = size - *n < input->len ? size - *n : input->len;

	if (more > 0)
		memcpy(to + *n, input->at, more);
	*n = (uint8_t)(*n + more);
	str_skip(input, more);
	return *n == size;
}

/* Returns the type, or 0 for a record that is none of this request. */
static int
get_type(const struct fastcgi *f)
{
	return (f->header[2] << 8 | f->header[3]) == f->id ? f->header[1] : 0;
}

static enum fastcgi_result
take_header(struct fastcgi *f, struct str *input)
{
	if (!collect_bytes(f->header, &f->nheader, FASTCGI_HEADER, input))
		return FASTCGI_MORE;
	f->left = (uint16_t)(f->header[4] << 8 | f->header[5]);
	f->padding = f->header[6];
	if (f->header[0] != VERSION)
		return FASTCGI_REFUSED;
	return get_type(f) == FASTCGI_END_REQUEST && f->left < sizeof(f->end) ?
	    FASTCGI_REFUSED : FASTCGI_MORE;
}

static void
take_end(struct fastcgi *f, struct str content)
{
	if (!collect_bytes(f->end, &f->nend, sizeof(f->end), &content))
		return;
	f->is_whole = true;
	f->exit_status = (uint32_t)f->end[0] << 24 |
	    (uint32_t)f->end[1] << 16 | (uint32_t)f->end[2] << 8 | f->end[3];
	f->status = f->end[4];
}

static enum fastcgi_result
take_content(struct fastcgi *f, struct str *input, struct str *content)
{
	size_t	n = f->left < input->len ? f->left : input->len;

	*content = (struct str){ input->at, n };
	str_skip(input, n);
	f->left = (uint16_t)(f->left - n);
	switch (get_type(f)) {
	case FASTCGI_STDOUT:
		return FASTCGI_OUTPUT;
	case FASTCGI_STDERR:
		return FASTCGI_ERRORS;
	case FASTCGI_END_REQUEST:
		take_end(f, *content);
		return FASTCGI_MORE;
	default:
		return FASTCGI_MORE;
	}
}

static void
take_padding(struct fastcgi *f, struct str *input)
{
	size_t	n = f->padding < input->len ? f->padding : input->len;

	str_skip(input, n);
	f->padding = (uint8_t)(f->padding - n);
}

/* Whether the record ends here, and the next one begins. */
static bool
end_record(struct fastcgi *f)
{
	if (f->nheader < FASTCGI_HEADER || f->left > 0 || f->padding > 0)
		return false;
	f->nheader = 0;
	return true;
}

enum fastcgi_result
fastcgi_next(struct fastcgi *f, struct str *input, struct str *content)
{
	enum fastcgi_result	result = FASTCGI_MORE;

	while (input->len > 0 && result == FASTCGI_MORE) {
		if (f->nheader < FASTCGI_HEADER)
			result = take_header(f, input);
		else if (f->left > 0)
			result = take_content(f, input, content);
		else
			take_padding(f, input);
		if (end_record(f) && f->is_whole)
			return FASTCGI_END;
	}
	return result;
}
