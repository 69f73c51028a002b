/* Fuzz target of proto/fastcgi: an answer, whole and byte by byte, must come to
 * the same end with the same bytes; and a slower reading, record by record,
 * must agree. */
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"
#include "lib/need.h"
#include "proto/fastcgi.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

struct answer {
	struct buf		output, errors;
	size_t			used;
	uint32_t		exit_status;
	uint8_t			status;
	enum fastcgi_result	result;
};

static void
feed(struct fastcgi *f, const uint8_t *at, size_t len, struct answer *a)
{
	struct str	input = { (const char *)at, len }, content;

	do {
		a->result = fastcgi_next(f, &input, &content);
		if (a->result == FASTCGI_OUTPUT)
			buf_add(&a->output, content.at, content.len);
		if (a->result == FASTCGI_ERRORS)
			buf_add(&a->errors, content.at, content.len);
	} while (a->result == FASTCGI_OUTPUT || a->result == FASTCGI_ERRORS);
	a->used += len - input.len;
	a->exit_status = f->exit_status;
	a->status = f->status;
}

/* By offsets in all bytes. */
static void
read_records(const uint8_t *at, size_t len, struct answer *a)
{
	size_t		 n;
	bool		 is_ours;

	a->result = FASTCGI_MORE;
	for (const uint8_t *end = at + len; end - at >= 8; at += n) {
		n = (size_t)at[4] << 8 | at[5];
		is_ours = at[2] == 0 && at[3] == 1;
		a->result = at[0] != 1 || (is_ours && at[1] == 3 && n < 8) ?
		    FASTCGI_REFUSED : FASTCGI_MORE;
		if (a->result == FASTCGI_REFUSED)
			return;
		if ((size_t)(end - at) < 8 + n)
			n = (size_t)(end - at) - 8;
		if (is_ours && at[1] == 6)
			buf_add(&a->output, at + 8, n);
		if (is_ours && at[1] == 7)
			buf_add(&a->errors, at + 8, n);
		n = 8 + ((size_t)at[4] << 8 | at[5]) + at[6];
		if ((size_t)(end - at) < n)
			return;
		if (is_ours && at[1] == 3) {
			a->result = FASTCGI_END;
			a->exit_status = (uint32_t)at[8] << 24 |
			    (uint32_t)at[9] << 16 | (uint32_t)at[10] << 8 |
			    at[11];
			a->status = at[12];
			return;
		}
	}
}

static bool
is_same(const struct buf *a, const struct buf *b)
{
	return a->len == b->len &&
	    (a->len == 0 || memcmp(a->at, b->at, a->len) == 0);
}

static void
compare(const struct answer *a, const struct answer *b)
{
	need(a->result == b->result);
	need(is_same(&a->output, &b->output));
	need(is_same(&a->errors, &b->errors));
	need(a->result != FASTCGI_END || (a->status == b->status &&
	    a->exit_status == b->exit_status));
}

static void
free_answer(struct answer *a)
{
	buf_free(&a->output);
	buf_free(&a->errors);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fastcgi	f = { .id = 1 }, g = { .id = 1 };
	struct answer	whole = { 0 }, slow = { 0 }, other = { 0 };

	feed(&f, data, len, &whole);
	slow.result = FASTCGI_MORE;
	for (size_t i = 0; i < len && slow.result == FASTCGI_MORE; i++)
		feed(&g, data + i, 1, &slow);
	compare(&whole, &slow);
	need(whole.used == slow.used);
	read_records(data, len, &other);
	compare(&whole, &other);
	free_answer(&whole);
	free_answer(&slow);
	free_answer(&other);
	return 0;
}
