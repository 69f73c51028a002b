/*
 * Unit test of proto/fastcgi.  Every answer is fed whole, byte by byte, and in
 * two pieces cut at every position, and must come to the same result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/fastcgi.h"
#include "t/unit/unit.h"

#define CASE(bytes, want)	{ bytes, sizeof(bytes) - 1, want }
/* A header: type, request, length, padding, each of one byte. */
#define HEAD(type, id, len, padding)					\
	"\1" type "\0" id "\0" len padding "\0"
#define END_BODY	"\0\0\0\0\0\0\0\0"
#define END		HEAD("\3", "\1", "\10", "\0") END_BODY
#define OUT		"\6"
#define ERR		"\7"

/* want: output|errors|, then "more", "refused", or status/exit status of the end
 * and the bytes behind it. */
static const struct {
	const char	*bytes;
	size_t		 len;
	const char	*want;
} cases[] = {
	CASE("", "||more"),
	CASE("\1", "||more"),
	CASE(END, "||0/0 +0"),
	CASE(HEAD(OUT, "\1", "\5", "\0") "hello" END, "hello||0/0 +0"),
	CASE(HEAD(OUT, "\1", "\5", "\3") "helloxyz"
	    HEAD(OUT, "\1", "\1", "\0") "!" HEAD(OUT, "\1", "\0", "\0") END,
	    "hello!||0/0 +0"),
	CASE(HEAD(OUT, "\1", "\0", "\4") "xxxx" END, "||0/0 +0"),
	CASE(HEAD(ERR, "\1", "\3", "\5") "oopxxxxx"
	    HEAD(OUT, "\1", "\1", "\0") "a" HEAD(ERR, "\1", "\1", "\0") "s"
	    HEAD(OUT, "\1", "\1", "\0") "b" END, "ab|oops|0/0 +0"),
	CASE(HEAD("\3", "\1", "\10", "\2") "\1\2\3\4\2xyz" "pp",
	    "||2/16909060 +0"),
	CASE(HEAD("\3", "\1", "\10", "\2") "\0\0\0\7\0xyz" "p", "||more"),
	CASE(HEAD("\3", "\1", "\13", "\0") "\0\0\0\7\0\0\0\0abc",
	    "||0/7 +0"),
	CASE(END "rest", "||0/0 +4"),
	CASE(HEAD(OUT, "\1", "\5", "\0") "hel", "hel||more"),
	/* Of other requests, the management, unknown types. */
	CASE(HEAD(OUT, "\2", "\2", "\6") "no......"
	    HEAD("\12", "\0", "\1", "\0") "x" HEAD(OUT, "\0", "\1", "\0") "x"
	    HEAD("\3", "\2", "\10", "\0") END_BODY
	    HEAD("\3", "\2", "\0", "\0") HEAD("\143", "\1", "\2", "\0") "xx"
	    "\1\6\1\1\0\1\0\0y" HEAD(OUT, "\1", "\3", "\0") "yes" END,
	    "yes||0/0 +0"),
	CASE("\0\6\0\1\0\0\0\0", "||refused"),
	CASE("\2\6\0\1\0\0\0\0", "||refused"),
	CASE("HTTP/1.1 200 OK", "||refused"),
	CASE(HEAD(OUT, "\1", "\1", "\0") "aXXXXXXXX", "a||refused"),
	CASE(HEAD("\3", "\1", "\7", "\0") "\0\0\0\0\0\0\0", "||refused"),
	CASE(HEAD("\3", "\1", "\0", "\0"), "||refused"),
};

struct answer {
	struct fastcgi		 parse;
	struct buf		 output, errors;
	enum fastcgi_result	 result;
	size_t			 left;
};

/* Each time at another address, without a byte behind. */
static void
feed(struct answer *a, const char *at, size_t len)
{
	char		*copy = malloc(len + 1);
	struct str	 input = { copy, len }, content;

	memcpy(copy, at, len);
	do {
		a->result = fastcgi_next(&a->parse, &input, &content);
		if (a->result == FASTCGI_OUTPUT)
			buf_add(&a->output, content.at, content.len);
		else if (a->result == FASTCGI_ERRORS)
			buf_add(&a->errors, content.at, content.len);
	} while (a->result == FASTCGI_OUTPUT || a->result == FASTCGI_ERRORS);
	a->left = input.len;
	ck_assert(a->result != FASTCGI_MORE || a->left == 0);
	free(copy);
}

static void
check(struct answer *a, size_t i, size_t cut, size_t unfed)
{
	char	is[300], end[60];

	snprintf(end, sizeof(end), "%u/%u +%zu", a->parse.status,
	    (unsigned)a->parse.exit_status, a->left + unfed);
	snprintf(is, sizeof(is), "%s|%s|%s", buf_string(&a->output),
	    buf_string(&a->errors), a->result == FASTCGI_MORE ? "more" :
	    a->result == FASTCGI_REFUSED ? "refused" : end);
	ck_assert_msg(strcmp(is, cases[i].want) == 0, "%s cut at %zu: %s",
	    unit_show(cases[i].bytes, cases[i].len), cut, is);
	buf_free(&a->output);
	buf_free(&a->errors);
}

START_TEST(test_cases)
{
	const char	*bytes = cases[_i].bytes;
	size_t		 len = cases[_i].len, n;
	struct answer	 a;

	for (size_t cut = 0; cut <= len; cut++) {
		a = (struct answer){ .parse.id = 1 };
		feed(&a, bytes, cut);
		n = a.result == FASTCGI_MORE ? len : cut;
		if (n > cut)
			feed(&a, bytes + cut, n - cut);
		check(&a, (size_t)_i, cut, len - n);
	}
	a = (struct answer){ .parse.id = 1 };
	for (n = 0; n < len && a.result == FASTCGI_MORE; n++)
		feed(&a, bytes + n, 1);
	check(&a, (size_t)_i, 1, len - n);
}
END_TEST

/* An answer of the largest records. */
START_TEST(test_large_record)
{
	static char	bytes[FASTCGI_HEADER + 65535 + 255];
	struct fastcgi	parse = { .id = 1 };
	struct str	input = { bytes, sizeof(bytes) }, content;

	memcpy(bytes, "\1\6\0\1\xff\xff\xff\0", 8);
	ck_assert_int_eq(fastcgi_next(&parse, &input, &content),
	    FASTCGI_OUTPUT);
	ck_assert_uint_eq(content.len, 65535);
	ck_assert_uint_eq(input.len, 255);
	ck_assert_int_eq(fastcgi_next(&parse, &input, &content), FASTCGI_MORE);
	input = (struct str){ END, sizeof(END) - 1 };
	ck_assert_int_eq(fastcgi_next(&parse, &input, &content), FASTCGI_END);
}
END_TEST

static const struct {
	const char	*environment;
	size_t		 size;
	enum fastcgi_role role;
	bool		 keep;
	const char	*want;
	size_t		 len;
} heads[] = {
#define BEGIN(role, flag)						\
	"\1\1\0\1\0\10\0\0" "\0" role flag "\0\0\0\0\0"
#define NO_PARAMS	"\1\4\0\1\0\0\0\0"
#define HEAD_CASE(environment, role, keep, want)			\
	{ environment, sizeof(environment) - 1, role, keep, want,	\
	    sizeof(want) - 1 }
	HEAD_CASE("", FASTCGI_RESPONDER, false, BEGIN("\1", "\0") NO_PARAMS),
	HEAD_CASE("", FASTCGI_RESPONDER, true, BEGIN("\1", "\1") NO_PARAMS),
	HEAD_CASE("", FASTCGI_AUTHORIZER, true, BEGIN("\2", "\1") NO_PARAMS),
	HEAD_CASE("", FASTCGI_FILTER, false, BEGIN("\3", "\0") NO_PARAMS),
	HEAD_CASE("A=1\0", FASTCGI_RESPONDER, true, BEGIN("\1", "\1")
	    "\1\4\0\1\0\4\4\0" "\1\1A1" "\0\0\0\0" NO_PARAMS),
	HEAD_CASE("AB=\0C=d=e\0", FASTCGI_AUTHORIZER, false,
	    BEGIN("\2", "\0") "\1\4\0\1\0\12\6\0"
	    "\2\0AB" "\1\3Cd=e" "\0\0\0\0\0\0" NO_PARAMS),
};

START_TEST(test_heads)
{
	struct buf	b = { 0 };

	fastcgi_add_head(&b, 1, heads[_i].role, (struct str){
	    heads[_i].environment, heads[_i].size }, heads[_i].keep);
	ck_assert_msg(b.len == heads[_i].len &&
	    memcmp(b.at, heads[_i].want, b.len) == 0, "%s",
	    unit_show(b.at, b.len));
	buf_free(&b);
}
END_TEST

/* Returns the content of all records of a type in front, without padding. */
static struct buf
join(const struct buf *b, size_t *at, uint8_t type)
{
	struct buf	 content = { 0 };
	const uint8_t	*r;
	size_t		 len;

	do {
		r = (const uint8_t *)b->at + *at;
		len = (size_t)r[4] << 8 | r[5];
		ck_assert_uint_ge(b->len, *at + FASTCGI_HEADER + len + r[6]);
		ck_assert_uint_eq(r[1], type);
		ck_assert_uint_eq((len + r[6]) % 8, 0);
		ck_assert_uint_lt(r[6], 8);
		buf_add(&content, r + FASTCGI_HEADER, len);
		*at += FASTCGI_HEADER + len + r[6];
	} while (len > 0 && *at < b->len);
	return content;
}

/* Lengths at the bounds of a byte and of a record. */
START_TEST(test_lengths)
{
	static const size_t	lengths[] = { 127, 128, 65522, 65523, 200000 };
	size_t			n = lengths[_i], at = 16, front;
	struct buf		text = { 0 }, b = { 0 }, content;
	uint8_t			*p;

	buf_adds(&text, "N=");
	for (size_t i = 0; i < n; i++)
		buf_addc(&text, (char)('a' + i % 26));
	buf_addc(&text, '\0');
	fastcgi_add_head(&b, 65535, FASTCGI_RESPONDER,
	    (struct str){ text.at, text.len }, false);
	content = join(&b, &at, FASTCGI_PARAMS);
	ck_assert_uint_eq(at, b.len);
	p = (uint8_t *)content.at;
	front = n > 127 ? 6 : 3;
	ck_assert_uint_eq(content.len, front + n);
	ck_assert_uint_eq(p[0], 1);
	if (n > 127)
		ck_assert_uint_eq((size_t)(p[1] & 0x7f) << 24 |
		    (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4], n);
	ck_assert_uint_eq(p[1] >> 7, n > 127);
	ck_assert_int_eq(p[front - 1], 'N');
	ck_assert(memcmp(p + front, text.at + 2, n) == 0);
	buf_free(&content);
	buf_free(&text);
	buf_free(&b);
}
END_TEST

START_TEST(test_records)
{
	const char	want[] = "..\1\5\0\1\0\3\5\0abc\0\0\0\0\0"
			    "\1\5\1\376\0\0\0\0";
	struct buf	b = { 0 };
	size_t		at;

	buf_adds(&b, "..");
	at = fastcgi_open(&b, FASTCGI_STDIN, 1);
	ck_assert_uint_eq(at, 2);
	buf_adds(&b, "abc");
	fastcgi_close(&b, at);
	fastcgi_close(&b, fastcgi_open(&b, FASTCGI_STDIN, 0x1fe));
	ck_assert_uint_eq(b.len, sizeof(want) - 1);
	ck_assert(memcmp(b.at, want, b.len) == 0);
	buf_free(&b);
}
END_TEST

/* What a filter gets behind its variables: an empty standard input, and a file,
 * whose records are divided at the bound of a record. */
START_TEST(test_filter_data)
{
	static const size_t	sizes[] = { 0, 1, 8, 65528, 65529, 200000 };
	size_t			n = sizes[_i], at = 0, len;
	struct buf		b = { 0 }, data = { 0 }, content;

	for (size_t i = 0; i < n; i++)
		buf_addc(&data, (char)(i % 251));
	fastcgi_close(&b, fastcgi_open(&b, FASTCGI_STDIN, 1));
	for (size_t i = 0; i < n; i += len) {
		size_t	record = fastcgi_open(&b, FASTCGI_DATA, 1);

		len = n - i < FASTCGI_CONTENT_MAX ? n - i : FASTCGI_CONTENT_MAX;
		buf_add(&b, data.at + i, len);
		fastcgi_close(&b, record);
	}
	fastcgi_close(&b, fastcgi_open(&b, FASTCGI_DATA, 1));
	content = join(&b, &at, FASTCGI_STDIN);
	ck_assert_uint_eq(content.len, 0);
	ck_assert_uint_eq(at, FASTCGI_HEADER);
	content = join(&b, &at, FASTCGI_DATA);
	ck_assert_uint_eq(at, b.len);
	ck_assert_uint_eq(content.len, n);
	ck_assert(n == 0 || memcmp(content.at, data.at, n) == 0);
	buf_free(&content);
	buf_free(&data);
	buf_free(&b);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, test_cases, 0,
	    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(t, test_large_record);
	tcase_add_loop_test(t, test_heads, 0,
	    sizeof(heads) / sizeof(heads[0]));
	tcase_add_loop_test(t, test_lengths, 0, 5);
	tcase_add_test(t, test_records);
	tcase_add_loop_test(t, test_filter_data, 0, 6);
}
