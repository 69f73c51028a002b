/* Fuzz target of proto/fastcgi: an answer, whole and byte by byte, must come to
 * the same end with the same bytes; and a slower reading, record by record,
 * must agree.  The same bytes as the variables and the file of a filter must
 * come out of its records again. */
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

/* Takes the content of all records of a stream off the front. */
static struct buf
join_stream(struct str *records, uint8_t type)
{
	struct buf	content = { 0 };
	const uint8_t	*r;
	size_t		n;

	do {
		need(records->len >= 8);
		r = (const uint8_t *)records->at;
		n = (size_t)r[4] << 8 | r[5];
		need(r[0] == 1 && r[1] == type && r[2] == 0 && r[3] == 1);
		need(r[6] < 8 && (n + r[6]) % 8 == 0);
		need(records->len >= 8 + n + r[6]);
		buf_add(&content, r + 8, n);
		str_skip(records, 8 + n + r[6]);
	} while (n > 0);
	return content;
}

static size_t
take_length(struct str *pairs)
{
	const uint8_t	*p = (const uint8_t *)pairs->at;
	size_t		 n = p[0], len = n < 128 ? 1 : 4;

	need(pairs->len >= len);
	if (len == 4)
		n = (n & 127) << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 |
		    p[3];
	str_skip(pairs, len);
	return n;
}

/* Compares pairs of a name and a value with the texts that they are made of. */
static void
check_pairs(struct str pairs, struct str texts)
{
	struct str	text, name;
	size_t		n, m;

	while (texts.len > 0) {
		text = str_cut(&texts, '\0');
		name = str_cut(&text, '=');
		need(pairs.len >= 2);
		n = take_length(&pairs);
		need(pairs.len > 0);
		m = take_length(&pairs);
		need(n == name.len && m == text.len && pairs.len >= n + m);
		need(n == 0 || memcmp(pairs.at, name.at, n) == 0);
		need(m == 0 || memcmp(pairs.at + n, text.at, m) == 0);
		str_skip(&pairs, n + m);
	}
	need(pairs.len == 0);
}

/* A request for a filter: the first byte divides variables from the file, and
 * the second is the size of the file's records. */
static void
check_filter(const uint8_t *at, size_t len)
{
	size_t		cut = len > 2 ? 2 + at[0] % (len - 1) : len, n, record;
	size_t		size = len > 2 ? 1 + at[1] : 1;
	struct str	texts, file, records;
	struct buf	to = { 0 }, got;

	if (len <= 2)
		return;
	texts = (struct str){ (const char *)at + 2, cut - 2 };
	file = (struct str){ (const char *)at + cut, len - cut };
	fastcgi_add_head(&to, 1, FASTCGI_FILTER, texts, false);
	fastcgi_close(&to, fastcgi_open(&to, FASTCGI_STDIN, 1));
	for (size_t i = 0; i < file.len; i += n) {
		n = file.len - i < size ? file.len - i : size;
		record = fastcgi_open(&to, FASTCGI_DATA, 1);
		buf_add(&to, file.at + i, n);
		fastcgi_close(&to, record);
	}
	fastcgi_close(&to, fastcgi_open(&to, FASTCGI_DATA, 1));
	need(memcmp(to.at, "\1\1\0\1\0\10\0\0\0\3\0", 11) == 0);
	records = (struct str){ to.at + 16, to.len - 16 };
	got = join_stream(&records, FASTCGI_PARAMS);
	check_pairs((struct str){ got.at, got.len }, texts);
	buf_free(&got);
	got = join_stream(&records, FASTCGI_STDIN);
	need(got.len == 0);
	got = join_stream(&records, FASTCGI_DATA);
	need(got.len == file.len && records.len == 0);
	need(file.len == 0 || memcmp(got.at, file.at, file.len) == 0);
	buf_free(&got);
	buf_free(&to);
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
	check_filter(data, len);
	return 0;
}
