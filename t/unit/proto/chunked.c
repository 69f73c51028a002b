/*
 * Unit test of proto/chunked.  Every case is fed whole, byte by byte, and in
 * two pieces cut at every position, and must come to the same result.
 */
#include <stdio.h>
#include <string.h>

#include "proto/chunked.h"
#include "t/unit/unit.h"

/* Small, so that the cases of the limits can be read. */
static const struct chunked_limits limits = { 100, 20, 40, 3 };

#define CASE(bytes, want)	{ bytes, sizeof(bytes) - 1, want }
#define NO_SIZE		"400 chunk without a size"
#define BAD_SIZE	"400 size of a chunk is not valid"
#define NO_CRLF		"400 chunk is not followed by CRLF"
#define BAD_EXTENSION	"400 chunk extension with a control byte"
#define LONG_LINE	"400 size line of a chunk is too long"
#define BAD_TRAILER	"400 trailer line without a name and a colon"
#define BAD_VALUE	"400 trailer with a control byte"
#define TOO_LARGE	"413 body is too large"
#define LARGE_CHUNK	"413 chunk is larger than the limit of a body"
#define TEN		"0123456789"

/* want: "more", or "+" and the bytes left behind the body, or why it is
 * refused. */
static const struct {
	const char	*bytes;
	size_t		 len;
	const char	*want;
} cases[] = {
	CASE("0\r\n\r\n", "+0"),
	CASE("0\r\n\r\nGET /", "+5"),
	CASE("000\r\n\r\n", "+0"),
	CASE("3\r\nabc\r\n0\r\n\r\n", "+0"),
	CASE("3\r\n\r\n0\r\n0\r\n\r\n\r\n", "+2"),
	CASE("a\r\n" TEN "\r\nA\r\n" TEN "\r\n0\r\n\r\nx", "+1"),
	CASE("0003\r\nabc\r\n1\r\nd\r\n00\r\n\r\n", "+0"),
	CASE("", "more"),
	CASE("3\r\nabc\r\n", "more"),
	CASE("3\r\nabc\r\n0\r\n", "more"),
	CASE("3\r\nabc\r\n0\r\n\r", "more"),

	/* Sizes. */
	CASE("\r\n", NO_SIZE),
	CASE("\n", NO_SIZE),
	CASE(" 3\r\n", NO_SIZE),
	CASE("+3\r\n", NO_SIZE),
	CASE("-3\r\n", NO_SIZE),
	CASE(";x\r\n", NO_SIZE),
	CASE("g\r\n", NO_SIZE),
	CASE("\0" "3\r\n", NO_SIZE),
	CASE("3\r\nabc\r\n\r\n", NO_SIZE),
	CASE("0x3\r\n", BAD_SIZE),
	CASE("3g\r\n", BAD_SIZE),
	CASE("3,\r\n", BAD_SIZE),
	CASE("3.0\r\n", BAD_SIZE),
	CASE("3_0\r\n", BAD_SIZE),
	CASE("3\0\r\n", BAD_SIZE),
	CASE("3 3\r\n", BAD_SIZE),
	CASE("3 \r\n", BAD_SIZE),
	CASE("3\t\r\n", BAD_SIZE),
	CASE("3\n", BAD_SIZE),
	CASE("3\v\r\n", BAD_SIZE),
	CASE("0 \r\n\r\n", BAD_SIZE),
	CASE("100000000\r\n", LARGE_CHUNK),
	CASE("ffffffffffffffff\r\n", LARGE_CHUNK),
	CASE("10000000000000003\r\n", LARGE_CHUNK),
	CASE("65\r\n", LARGE_CHUNK),
	CASE("60\r\n", "more"),
	CASE("61\r\n", TOO_LARGE),	/* with the four bytes before */

	/* Line ends. */
	CASE("3\rx", NO_CRLF),
	CASE("3\r\r\n", NO_CRLF),
	CASE("3\r\nabcd", NO_CRLF),
	CASE("3\r\nabc\n0\r\n\r\n", NO_CRLF),
	CASE("3\r\nabc\r0", NO_CRLF),
	CASE("3\r\nabc0\r\n\r\n", NO_CRLF),
	CASE("3\r\nab\r\n0\r\n\r\n", NO_CRLF),
	CASE("0\r\n\rx", NO_CRLF),
	CASE("0\r\n\n", BAD_TRAILER),
	CASE("0\n\r\n", BAD_SIZE),

	/* Extensions. */
	CASE("0;a\r\n\r\n", "+0"),
	CASE("0;a=b;c=\"d\"\r\n\r\n", "+0"),
	CASE("0 \t;\ta = b\r\n\r\n", "+0"),
	CASE("1;a=\xc3\xa4\r\nx\r\n0\r\n\r\n", "+0"),
	CASE("1;a=\"b\\\"c\"\r\nx\r\n0\r\n\r\n", "+0"),
	CASE("1;a=b\\\r\nx\r\n0\r\n\r\n", "+0"),
	CASE("1;a\nx", BAD_EXTENSION),
	CASE("1;a=\"b\r\n", BAD_EXTENSION),
	CASE("1;a=\"b\r\n\"\r\n", BAD_EXTENSION),
	CASE("1;a=\"b\n\"\r\n", BAD_EXTENSION),
	CASE("1;a=\"b\rc\"\r\n", BAD_EXTENSION),
	CASE("1;a=\"b\\\r\n\"\r\n", BAD_EXTENSION),
	CASE("1;a=\"b\\\"\r\n", BAD_EXTENSION),
	CASE("1;a=\"\n\"\r\n", BAD_EXTENSION),
	CASE("1;a\0\r\n", BAD_EXTENSION),
	CASE("1;a\rb\r\n", NO_CRLF),
	CASE("1;a\x7f", BAD_EXTENSION),
	CASE("0;" TEN "abcdef\r\n\r\n", "+0"),
	CASE("0;" TEN "abcdefg\r\n", LONG_LINE),
	CASE("000000000000000000\r\n\r\n", "+0"),
	CASE("0000000000000000000\r\n", LONG_LINE),

	/* Trailers. */
	CASE("0\r\nA: b\r\n\r\n", "+0"),
	CASE("0\r\nA:\r\nb:\t\xff \r\n\r\nx", "+1"),
	CASE("0\r\nContent-Length: 5\r\n\r\n", "+0"),
	CASE("0\r\nA\r\n\r\n", BAD_TRAILER),
	CASE("0\r\nA : b\r\n\r\n", BAD_TRAILER),
	CASE("0\r\n: b\r\n\r\n", BAD_TRAILER),
	CASE("0\r\n A: b\r\n\r\n", BAD_TRAILER),
	CASE("0\r\nA: b\r\n c\r\n\r\n", BAD_TRAILER),
	CASE("0\r\nGET / HTTP/1.1\r\n", BAD_TRAILER),
	CASE("0\r\nA: b\n\r\n", BAD_VALUE),
	CASE("0\r\nA: b\0\r\n\r\n", BAD_VALUE),
	CASE("0\r\nA: b\rc\r\n\r\n", NO_CRLF),
	CASE("0\r\na:\r\nb:\r\nc:\r\n\r\n", "+0"),
	CASE("0\r\na:\r\nb:\r\nc:\r\nd:\r\n", "431 too many fields in a trailer"),
	CASE("0\r\nA: " TEN TEN TEN "abc\r\n\r\n", "+0"),
	CASE("0\r\nA: " TEN TEN TEN "abcd\r\n\r\n", "431 trailer is too long"),

	/* The limit of the body includes framing. */
	CASE("46\r\n" TEN TEN TEN TEN TEN TEN TEN "\r\n"
	    "5;" TEN "a\r\n", "more"),
	CASE("46\r\n" TEN TEN TEN TEN TEN TEN TEN "\r\n"
	    "5;" TEN "abcdef\r\n", TOO_LARGE),
	CASE("50\r\n" TEN TEN TEN TEN TEN TEN TEN TEN "\r\n"
	    "0\r\na: bcdef\r\n\r\n", TOO_LARGE),
	CASE("50\r\n" TEN TEN TEN TEN TEN TEN TEN TEN "\r\n"
	    "0\r\na: bcde\r\n\r\n", "+0"),
};

/* Feeds pieces: the first of its own length, the others of step bytes. */
static const char *
in_pieces(const char *bytes, size_t len, size_t first, size_t step)
{
	static char		text[100];
	struct chunked		c = { 0 };
	enum chunked_result	result = CHUNKED_MORE;
	size_t			at = 0, n = first, used = 0;

	do {
		n = n < len - at ? n : len - at;
		result = chunked_feed(&c, &limits, bytes + at, n, &used);
		ck_assert_uint_le(used, n);
		ck_assert(result != CHUNKED_MORE || used == n);
		at += used;
		n = step;
	} while (result == CHUNKED_MORE && at < len);
	if (result == CHUNKED_MORE)
		return "more";
	if (result == CHUNKED_DONE)
		snprintf(text, sizeof(text), "+%zu", len - at);
	else
		snprintf(text, sizeof(text), "%d %s", c.status, c.why);
	return text;
}

START_TEST(body)
{
	const char	*bytes = cases[_i].bytes, *want = cases[_i].want;
	size_t		 len = cases[_i].len;
	const char	*is = in_pieces(bytes, len, len, 1);

	ck_assert_msg(strcmp(is, want) == 0, "%s\n gives %s\n  want %s",
	    unit_show(bytes, len), is, want);
	is = in_pieces(bytes, len, 0, 1);
	ck_assert_msg(strcmp(is, want) == 0,
	    "%s\nbyte by byte gives %s\n want %s", unit_show(bytes, len), is,
	    want);
	for (size_t cut = 1; cut < len; cut++) {
		is = in_pieces(bytes, len, cut, len);
		ck_assert_msg(strcmp(is, want) == 0,
		    "%s\ncut at %zu gives %s\n want %s",
		    unit_show(bytes, len), cut, is, want);
	}
}
END_TEST

/* The result stays, and no more bytes are taken. */
START_TEST(afterwards)
{
	struct chunked	c = { 0 };
	size_t		used;

	ck_assert_int_eq(chunked_feed(&c, &limits, "0\r\n\r\n", 5, &used),
	    CHUNKED_DONE);
	ck_assert_int_eq(chunked_feed(&c, &limits, "0\r\n\r\n", 5, &used),
	    CHUNKED_DONE);
	ck_assert_uint_eq(used, 0);
	memset(&c, 0, sizeof(c));
	ck_assert_int_eq(chunked_feed(&c, &limits, "x", 1, &used),
	    CHUNKED_REFUSED);
	ck_assert_int_eq(chunked_feed(&c, &limits, "0\r\n\r\n", 5, &used),
	    CHUNKED_REFUSED);
	ck_assert_uint_eq(used, 0);
}
END_TEST

/* With a limit of 0 an empty body is refused, too: it has framing. */
START_TEST(nothing)
{
	struct chunked_limits	none = limits;
	struct chunked		c = { 0 };
	size_t			used;

	none.body = 0;
	ck_assert_int_eq(chunked_feed(&c, &none, "0\r\n\r\n", 5, &used),
	    CHUNKED_REFUSED);
	ck_assert_uint_eq(c.status, 413);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, body, 0,
	    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(t, afterwards);
	tcase_add_test(t, nothing);
}
