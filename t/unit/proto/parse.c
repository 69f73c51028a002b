/*
 * Unit test of proto/parse.  Every case is fed whole, byte by byte, and in two
 * pieces cut at every position, each time from fresh memory of exactly that
 * size, and must come to the same result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/parse.h"
#include "t/unit/unit.h"

/* Small, so that the cases of the limits can be read. */
static const struct parse_limits limits = { 64, 300, 8 };

struct test_case {
	const char	*bytes;
	size_t		 len;
	/*
	 * As by describe_result().  Done: method minor path?query @host flags
	 * {fields} +bytes behind.  Refused: status why.
	 */
	const char	*want;
};

#define CASE(bytes, want)	{ bytes, sizeof(bytes) - 1, want }
/* HTTP/1.1 with the one field that it must have. */
#define LINE(line, want)	CASE(line "\r\nHost: h\r\n\r\n", want)
/* HTTP/1.0, which needs no field. */
#define FIELD(line, want)	CASE("GET / HTTP/1.0\r\n" line "\r\n\r\n", want)

#define BAD_METHOD	"400 request does not start with a method"
#define BAD_VERSION	"400 request line without a valid version"
#define BAD_TARGET	"400 target with an invalid byte"
#define NO_TARGET	"400 request line without a target"
#define NO_PATH		"400 target is neither a path nor an http URI"
#define BAD_HOST	"400 Host is not valid"
#define BAD_URI_HOST	"400 host of the target is not valid"
#define BAD_CONNECT	"400 target of CONNECT is not host:port"
#define BAD_EOL		"400 line ends in LF without CR"
#define BAD_NAME	"400 field line without a name and a colon"
#define BAD_VALUE	"400 field with a control byte"
#define BAD_LENGTH	"400 Content-Length is not valid"
#define NO_CODING	"400 Transfer-Encoding is empty"
#define BAD_CODING	"501 transfer coding is not chunked"
#define FOLDED		"400 field line starts with a blank"
#define TWICE		"400 field is repeated"
#define LONG_LINE	"414 request line is too long"

#define TEN		"0123456789"

static const struct test_case request_lines[] = {
	LINE("GET / HTTP/1.1", "GET 1 / @h {host=h}"),
	LINE("HEAD /a/b.html HTTP/1.1", "HEAD 1 /a/b.html @h {host=h}"),
	LINE("POST / HTTP/1.1", "POST 1 / @h {host=h}"),
	LINE("PUT / HTTP/1.1", "PUT 1 / @h {host=h}"),
	LINE("DELETE / HTTP/1.1", "DELETE 1 / @h {host=h}"),
	LINE("OPTIONS / HTTP/1.1", "OPTIONS 1 / @h {host=h}"),
	LINE("TRACE / HTTP/1.1", "TRACE 1 / @h {host=h}"),
	LINE("PATCH / HTTP/1.1", "PATCH 1 / @h {host=h}"),
	LINE("get / HTTP/1.1", "UNKNOWN 1 / @h {host=h}"),
	LINE("GETS / HTTP/1.1", "UNKNOWN 1 / @h {host=h}"),
	LINE("GE / HTTP/1.1", "UNKNOWN 1 / @h {host=h}"),
	LINE("UNKNOWN / HTTP/1.1", "UNKNOWN 1 / @h {host=h}"),
	LINE("!#$%&'*+-.^_`|~09 / HTTP/1.1", "UNKNOWN 1 / @h {host=h}"),
	LINE(TEN TEN TEN "01 / HTTP/1.1", "UNKNOWN 1 / @h {host=h}"),
	CASE(TEN TEN TEN "012", "501 method is too long"),
	CASE(TEN TEN TEN "012 / HTTP/1.1\r\n",
	    "501 method is too long"),

	/* Bytes that cannot be a method are refused at once. */
	CASE("\x16\x03\x01\x02", BAD_METHOD),
	CASE("\x16", BAD_METHOD),
	CASE("\0", BAD_METHOD),
	CASE(" ", BAD_METHOD),
	CASE("\n", BAD_METHOD),
	CASE("G\xc3", BAD_METHOD),
	CASE("GET\t", BAD_METHOD),
	CASE("GET\r", BAD_METHOD),
	CASE("GET\n", BAD_METHOD),
	CASE("(", BAD_METHOD),
	CASE("GET:", BAD_METHOD),

	/* One CRLF in front is skipped, nothing else. */
	CASE("\r\nGET / HTTP/1.0\r\n\r\n", "GET 0 /"),
	CASE("\r\n\r", BAD_METHOD),
	CASE("\rG", BAD_METHOD),
	CASE("\r\r", BAD_METHOD),
	CASE("\n", BAD_METHOD),

	/* One SP here and there, nothing around. */
	LINE("GET  / HTTP/1.1", NO_TARGET),
	LINE("GET /  HTTP/1.1", BAD_VERSION),
	LINE("GET / HTTP/1.1 ", BAD_VERSION),
	LINE("GET / HTTP/1.1\t", BAD_VERSION),
	LINE("GET\t/ HTTP/1.1", BAD_METHOD),
	LINE("GET /\tHTTP/1.1", BAD_TARGET),
	LINE(" GET / HTTP/1.1", BAD_METHOD),
	CASE("GET / HTTP/1.1\n", BAD_EOL),
	CASE("GET / HTTP/1.1\nHost: h\n\n", BAD_EOL),
	LINE("GET / HTTP/1.1\r", BAD_VERSION),
	LINE("GET /\rHTTP/1.1", BAD_TARGET),
	LINE("GET /a\0b HTTP/1.1", BAD_TARGET),
	LINE("GET /a\x7f HTTP/1.1", BAD_TARGET),
	LINE("GET /\xc3\xa4 HTTP/1.1", BAD_TARGET),
	LINE("GET /a#b HTTP/1.1", BAD_TARGET),
	LINE("GET #b HTTP/1.1", NO_TARGET),
	LINE("GET ", NO_TARGET),
	LINE("GET", BAD_METHOD),

	/* Versions. */
	LINE("GET /", BAD_VERSION),			/* HTTP/0.9 */
	LINE("GET / ", BAD_VERSION),
	LINE("GET / HTTP/1.9", "GET 9 / @h {host=h}"),
	LINE("GET / HTTP/1.0", "GET 0 / @h {host=h}"),
	LINE("GET / HTTP/2.0", "505 version is not HTTP/1"),
	LINE("GET / HTTP/0.9", "505 version is not HTTP/1"),
	CASE("PRI * HTTP/2.0\r\n", "505 version is not HTTP/1"),
	LINE("GET / HTTP/1.10", BAD_VERSION),
	LINE("GET / HTTP/11.1", BAD_VERSION),
	LINE("GET / HTTP/1", BAD_VERSION),
	LINE("GET / HTTP/1.", BAD_VERSION),
	LINE("GET / HTTP/1,1", BAD_VERSION),
	LINE("GET / HTTP/x.1", BAD_VERSION),
	LINE("GET / HTTP/1.x", BAD_VERSION),
	LINE("GET / http/1.1", BAD_VERSION),
	LINE("GET / HTTP1.1", BAD_VERSION),
	LINE("GET / ICAP/1.1", BAD_VERSION),
};

static const struct test_case targets[] = {
	LINE("GET /?a=b&c HTTP/1.1", "GET 1 /?a=b&c @h {host=h}"),
	LINE("GET /a? HTTP/1.1", "GET 1 /a @h {host=h}"),
	LINE("GET /a?b?c HTTP/1.1", "GET 1 /a?b?c @h {host=h}"),
	LINE("GET /%41/../x HTTP/1.1", "GET 1 /%41/../x @h {host=h}"),
	LINE("GET /a|{}^`\"<>\\[] HTTP/1.1",
	    "GET 1 /a|{}^`\"<>\\[] @h {host=h}"),
	LINE("GET //x/y HTTP/1.1", "GET 1 //x/y @h {host=h}"),
	LINE("GET x HTTP/1.1", NO_PATH),
	LINE("GET ?x HTTP/1.1", NO_PATH),
	LINE("GET h:80 HTTP/1.1", NO_PATH),
	LINE("GET ftp://x/ HTTP/1.1", NO_PATH),
	LINE("GET https:/x/ HTTP/1.1", NO_PATH),
	LINE("GET http:x HTTP/1.1", NO_PATH),
	LINE("GET http:// HTTP/1.1", NO_PATH),
	LINE("GET https:// HTTP/1.1", NO_PATH),

	LINE("GET http://x/y?z HTTP/1.1", "GET 1 /y?z @x absolute {host=h}"),
	LINE("GET http://x HTTP/1.1", "GET 1 / @x absolute {host=h}"),
	LINE("GET http://x?q HTTP/1.1", "GET 1 /?q @x absolute {host=h}"),
	LINE("GET http://x? HTTP/1.1", "GET 1 / @x absolute {host=h}"),
	LINE("GET HTTPS://x:8/ HTTP/1.1", "GET 1 / @x:8 absolute {host=h}"),
	LINE("GET hTTp://[::1]/ HTTP/1.1", "GET 1 / @[::1] absolute {host=h}"),
	CASE("GET http://x/ HTTP/1.0\r\n\r\n", "GET 0 / @x absolute"),
	LINE("GET http:///y HTTP/1.1", BAD_URI_HOST),
	LINE("GET http://?q HTTP/1.1", BAD_URI_HOST),
	LINE("GET http://:80/ HTTP/1.1", BAD_URI_HOST),
	LINE("GET http://u@x/ HTTP/1.1", BAD_URI_HOST),
	LINE("GET http://u:p@x/ HTTP/1.1", BAD_URI_HOST),
	LINE("GET http://x:y/ HTTP/1.1", BAD_URI_HOST),
	/* A Host field that is not used must be valid. */
	CASE("GET http://x/ HTTP/1.1\r\n\r\n", "400 Host is missing"),
	CASE("GET http://x/ HTTP/1.1\r\nHost: a b\r\n\r\n", BAD_HOST),
	CASE("GET http://x/ HTTP/1.1\r\nHost:\r\n\r\n",
	    "GET 1 / @x absolute {host=}"),

	LINE("OPTIONS * HTTP/1.1", "OPTIONS 1 * @h {host=h}"),
	LINE("GET * HTTP/1.1", "400 target * without OPTIONS"),
	LINE("OPTIONS ** HTTP/1.1", NO_PATH),
	LINE("OPTIONS *?x HTTP/1.1", NO_PATH),

	LINE("CONNECT x:443 HTTP/1.1", "CONNECT 1  @x:443 {host=h}"),
	LINE("CONNECT [::1]:1 HTTP/1.1", "CONNECT 1  @[::1]:1 {host=h}"),
	LINE("CONNECT x HTTP/1.1", BAD_CONNECT),
	LINE("CONNECT x: HTTP/1.1", BAD_CONNECT),
	LINE("CONNECT :443 HTTP/1.1", BAD_CONNECT),
	LINE("CONNECT / HTTP/1.1", BAD_CONNECT),
	LINE("CONNECT http://x/ HTTP/1.1", BAD_CONNECT),
};

static const struct test_case fields[] = {
	CASE("GET / HTTP/1.0\r\n\r\n", "GET 0 /"),
	CASE("GET / HTTP/1.0\r\n\r\nGET /2", "GET 0 / +6"),
	CASE("GET / HTTP/1.0\r\n\r\n\x01\n\n", "GET 0 / +3"),
	FIELD("Range:bytes=0-", "GET 0 / {range=bytes=0-}"),
	FIELD("rAnGe: \t bytes=0-\t ", "GET 0 / {range=bytes=0-}"),
	FIELD("Range:", "GET 0 / {range=}"),
	FIELD("Range: \t ", "GET 0 / {range=}"),
	FIELD("Referer: a \t b: \xff\x80",
	    "GET 0 / {referer=a \t b: \xff\x80}"),
	FIELD("User-Agent: x (y; \"z\")", "GET 0 / {user-agent=x (y; \"z\")}"),
	FIELD("!#$%&'*+-.^_`|~09aZ: x", "GET 0 /"),
	FIELD("Accept: a\r\nRange: b\r\nCookie: c", "GET 0 / {accept=a range=b}"),
	/* As long as a known field, and nearly the same. */
	FIELD("hose: x\r\nranga: x\r\nexpecd: x\r\nrefereR2: x\r\nif-rangg: x",
	    "GET 0 /"),
	FIELD("if-mutch: x\r\nif_match: x\r\nif\rmatch: x", BAD_NAME),
	FIELD("if_match: x\r\nuser_agent: x\r\nconnecsion: x", "GET 0 /"),
	/* The first line is stored, the second recorded. */
	FIELD("Range: a\r\nRange: b\r\nRange: c", "GET 0 / {range=a+}"),

	FIELD("Range : x", BAD_NAME),
	FIELD("Range\t: x", BAD_NAME),
	FIELD("Ra nge: x", BAD_NAME),
	FIELD("Range", BAD_NAME),
	FIELD(": x", BAD_NAME),
	FIELD(":", BAD_NAME),
	FIELD("R\xc3nge: x", BAD_NAME),
	FIELD("R\0nge: x", BAD_NAME),
	FIELD("R(nge: x", BAD_NAME),
	FIELD(" Range: x", FOLDED),
	FIELD("\tRange: x", FOLDED),
	FIELD("Range: x\r\n y", FOLDED),
	FIELD("Range: x\r\n\ty", FOLDED),
	FIELD("Range: x\r\n ", FOLDED),
	FIELD("Range: x\ry", BAD_VALUE),
	FIELD("Range: x\r", BAD_VALUE),
	FIELD("Range: x\0", BAD_VALUE),
	FIELD("Range: x\x7f", BAD_VALUE),
	FIELD("X: 01234567\x1b" "9", BAD_VALUE),
	FIELD("X: 01234567\t9\x1b", BAD_VALUE),
	CASE("GET / HTTP/1.0\r\nRange: x\n", BAD_EOL),
	CASE("GET / HTTP/1.0\r\nRange: x\ny: z\r\n\r\n", BAD_EOL),
	CASE("GET / HTTP/1.0\r\n\n", BAD_EOL),
	CASE("GET / HTTP/1.0\r\n\r\r\n", BAD_NAME),

	/* Host */
	CASE("GET / HTTP/1.1\r\n\r\n", "400 Host is missing"),
	CASE("GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET 1 / {host=}"),
	FIELD("Host: a.example:8", "GET 0 / @a.example:8 {host=a.example:8}"),
	FIELD("Host: a\r\nHost: a", TWICE),
	FIELD("Host:\r\nHost:", TWICE),
	FIELD("Host: a b", BAD_HOST),
	FIELD("Host: a/b", BAD_HOST),
	FIELD("Host: u@a", BAD_HOST),
	FIELD("Host: :80", BAD_HOST),

	/* Connection */
	FIELD("Connection: close", "GET 0 / close {connection=close}"),
	FIELD("Connection: Keep-Alive",
	    "GET 0 / keep-alive {connection=Keep-Alive}"),
	FIELD("Connection: te , CLOSE,,x", "GET 0 / close "
	    "{connection=te , CLOSE,,x}"),
	FIELD("Connection: keep-alive\r\nConnection: close",
	    "GET 0 / close keep-alive {connection=keep-alive+}"),
	FIELD("Connection: closed, keep-aliv",
	    "GET 0 / {connection=closed, keep-aliv}"),

	/* Framing */
	FIELD("Content-Length: 0", "GET 0 / length 0 {content-length=0}"),
	FIELD("Content-Length: 042", "GET 0 / length 42 {content-length=042}"),
	FIELD("Content-Length: 9223372036854775807",
	    "GET 0 / length 9223372036854775807 "
	    "{content-length=9223372036854775807}"),
	FIELD("Content-Length: 9223372036854775808", BAD_LENGTH),
	FIELD("Content-Length: 18446744073709551617", BAD_LENGTH),
	FIELD("Content-Length:", BAD_LENGTH),
	FIELD("Content-Length: -1", BAD_LENGTH),
	FIELD("Content-Length: +1", BAD_LENGTH),
	FIELD("Content-Length: 1 ", "GET 0 / length 1 {content-length=1}"),
	FIELD("Content-Length: 1 1", BAD_LENGTH),
	FIELD("Content-Length: 1,1", BAD_LENGTH),
	FIELD("Content-Length: 0x1", BAD_LENGTH),
	FIELD("Content-Length: 1\r\nContent-Length: 1", TWICE),
	LINE("GET / HTTP/1.1\r\nTransfer-Encoding: chunked",
	    "GET 1 / @h chunked {host=h transfer-encoding=chunked}"),
	LINE("GET / HTTP/1.1\r\nTransfer-Encoding: CHUNKED",
	    "GET 1 / @h chunked {host=h transfer-encoding=CHUNKED}"),
	FIELD("Transfer-Encoding: chunked",
	    "400 Transfer-Encoding in HTTP/1.0"),
	LINE("GET / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked", BAD_CODING),
	LINE("GET / HTTP/1.1\r\nTransfer-Encoding: identity", BAD_CODING),
	LINE("GET / HTTP/1.1\r\nTransfer-Encoding: chunked;x", BAD_CODING),
	LINE("GET / HTTP/1.1\r\nTransfer-Encoding: chunked,", BAD_CODING),
	LINE("GET / HTTP/1.1\r\nTransfer-Encoding:\x0b" "chunked", BAD_VALUE),
	LINE("GET / HTTP/1.1\r\nTransfer-Encoding:", NO_CODING),
	LINE("GET / HTTP/1.1\r\nTransfer-Encoding:\r\n chunked", NO_CODING),
	LINE("GET / HTTP/1.1\r\nTransfer-Encoding: x\r\n chunked", FOLDED),
	LINE("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n x", FOLDED),
	LINE("GET / HTTP/1.1\r\nTransfer-Encoding: x\r\n"
	    "Transfer-Encoding: chunked", TWICE),
	LINE("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
	    "Transfer-Encoding: chunked", TWICE),
	LINE("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
	    "Content-Length: 1",
	    "400 both Transfer-Encoding and Content-Length"),
	LINE("GET / HTTP/1.1\r\nContent-Length: 1\r\n"
	    "Transfer-Encoding: chunked",
	    "400 both Transfer-Encoding and Content-Length"),

	/* Limits: 64 bytes a line, 8 fields; the head has a test of its own. */
	CASE("GET /" TEN TEN TEN TEN "01234567 HTTP/1.0\r\n\r\n",
	    "GET 0 /" TEN TEN TEN TEN "01234567"),
	CASE("GET /" TEN TEN TEN TEN "012345678 HTTP/1.0\r\n", LONG_LINE),
	CASE("GET /" TEN TEN TEN TEN TEN "012345678", LONG_LINE),
	CASE("\r\nGET /" TEN TEN TEN TEN "01234567 HTTP/1.0\r\n\r\n",
	    "GET 0 /" TEN TEN TEN TEN "01234567"),
	FIELD("a:\r\na:\r\na:\r\na:\r\na:\r\na:\r\na:\r\na:", "GET 0 /"),
	FIELD("a:\r\na:\r\na:\r\na:\r\na:\r\na:\r\na:\r\na:\r\na:",
	    "431 too many fields"),
};

#define COUNT(array)	(int)(sizeof(array) / sizeof((array)[0]))

static const char *const method_names[] = {
	"UNKNOWN",
#define X(name) #name,
	PARSE_METHODS(X)
#undef X
};

static const char *const field_names[] = {
#define X(id, name, many) name,
	PARSE_FIELDS(X)
#undef X
};

struct text {
	char	at[1000];
	size_t	len;
};

static void
put_text(struct text *t, const char *before, struct str s)
{
	t->len += (size_t)snprintf(t->at + t->len, sizeof(t->at) - t->len,
	    "%s%.*s", before, (int)s.len, s.len > 0 ? s.at : "");
	ck_assert_uint_lt(t->len, sizeof(t->at));
}

static void
put_flags(struct text *t, const struct parse *p)
{
	char	number[32];

	if (p->absolute)
		put_text(t, " absolute", STR(""));
	if (p->close)
		put_text(t, " close", STR(""));
	if (p->keep_alive)
		put_text(t, " keep-alive", STR(""));
	if (p->chunked)
		put_text(t, " chunked", STR(""));
	snprintf(number, sizeof(number), "%lld", (long long)p->content_length);
	if (p->content_length != -1)
		put_text(t, " length ", str_of(number));
}

static void
put_fields(struct text *t, const struct parse *p, const char *head)
{
	const char	*before = " {";

	for (int f = 0; f < FIELD_COUNT; f++) {
		if (!parse_has(p, f)) {
			ck_assert_ptr_null(parse_field(p, head, f).at);
			continue;
		}
		put_text(t, before, str_of(field_names[f]));
		put_text(t, "=", parse_field(p, head, f));
		if ((p->repeated & 1u << f) != 0)
			put_text(t, "+", STR(""));
		before = " ";
	}
	if (p->present != 0)
		put_text(t, "}", STR(""));
}

/* Writes a result as text. */
static struct text
describe_result(enum parse_result result, const struct parse *p,
    const char *head, size_t len)
{
	struct text	t = { "", 0 };
	char		number[32];

	if (result == PARSE_MORE) {
		put_text(&t, "more", STR(""));
		return t;
	}
	if (result == PARSE_REFUSED) {
		snprintf(number, sizeof(number), "%d ", p->status);
		put_text(&t, number, str_of(p->why));
		return t;
	}
	ck_assert_uint_le(p->size, len);
	snprintf(number, sizeof(number), " %d ", p->minor);
	put_text(&t, method_names[p->method], STR(""));
	put_text(&t, number, parse_str(head, p->path));
	if (p->query.len > 0)
		put_text(&t, "?", parse_str(head, p->query));
	if (p->host.len > 0)
		put_text(&t, " @", parse_str(head, p->host));
	put_flags(&t, p);
	put_fields(&t, p, head);
	snprintf(number, sizeof(number), " +%zu", len - p->size);
	if (p->size < len)
		put_text(&t, number, STR(""));
	return t;
}

/* Feeds from memory that ends where the bytes end. */
static enum parse_result
feed_bytes(struct parse *p, const struct parse_limits *l, const char *bytes,
    size_t len)
{
	char			*copy = malloc(len > 0 ? len : 1);
	enum parse_result	 result;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, len);
	result = parse_feed(p, l, copy, len);
	free(copy);
	return result;
}

/* A parse whose memory was used before. */
static void
start_parse(struct parse *p)
{
	memset(p, 0xa5, sizeof(*p));
	parse_init(p);
}

/* Feeds pieces of step bytes, the first one of its own length. */
static struct text
in_pieces(const struct parse_limits *l, const char *bytes, size_t len,
    size_t first, size_t step, struct parse *p)
{
	enum parse_result	result = PARSE_MORE;
	size_t			n;

	start_parse(p);
	for (n = first; n < len && result == PARSE_MORE; n += step)
		result = feed_bytes(p, l, bytes, n);
	if (result == PARSE_MORE)
		result = feed_bytes(p, l, bytes, len);
	return describe_result(result, p, bytes, len);
}

/* The request line so far is a prefix of the final one. */
static void
check_line(const struct parse *p, const struct parse *whole)
{
	ck_assert_uint_eq(p->request_line.at, whole->request_line.at);
	ck_assert_uint_le(p->request_line.len, whole->request_line.len);
	if (p->status == 0)
		ck_assert_uint_eq(p->request_line.len,
		    whole->request_line.len);
}

static void
check_case(const struct parse_limits *l, const char *bytes, size_t len,
    const char *want)
{
	struct parse	p, whole;
	struct text	t;

	t = in_pieces(l, bytes, len, len, 1, &whole);
	ck_assert_msg(strcmp(t.at, want) == 0, "%s\n gives %s\n  want %s",
	    unit_show(bytes, len), unit_show(t.at, t.len), want);
	t = in_pieces(l, bytes, len, 0, 1, &p);
	ck_assert_msg(strcmp(t.at, want) == 0,
	    "%s\nbyte by byte gives %s\n want %s",
	    unit_show(bytes, len), unit_show(t.at, t.len), want);
	check_line(&p, &whole);
	for (size_t cut = 1; cut < len; cut++) {
		t = in_pieces(l, bytes, len, cut, len, &p);
		ck_assert_msg(strcmp(t.at, want) == 0,
		    "%s\ncut at %zu gives %s\n want %s",
		    unit_show(bytes, len), cut, unit_show(t.at, t.len), want);
		check_line(&p, &whole);
	}
}

START_TEST(request_line)
{
	check_case(&limits, request_lines[_i].bytes, request_lines[_i].len,
	    request_lines[_i].want);
}
END_TEST

START_TEST(target)
{
	check_case(&limits, targets[_i].bytes, targets[_i].len,
	    targets[_i].want);
}
END_TEST

START_TEST(field)
{
	check_case(&limits, fields[_i].bytes, fields[_i].len, fields[_i].want);
}
END_TEST

/* Every prefix of a valid head is valid so far. */
START_TEST(more)
{
	static const char	head[] =
	    "\r\nGET /a HTTP/1.1\r\nHost: h\r\nRange: bytes=0-\r\n\r\n";
	struct parse		p;

	for (size_t n = 0; n < sizeof(head) - 1; n++) {
		start_parse(&p);
		ck_assert_int_eq(feed_bytes(&p, &limits, head, n), PARSE_MORE);
		ck_assert_int_eq(feed_bytes(&p, &limits, head, n), PARSE_MORE);
	}
}
END_TEST

/* The result stays, whatever is fed behind it. */
START_TEST(afterwards)
{
	struct parse	p;

	start_parse(&p);
	ck_assert_int_eq(feed_bytes(&p, &limits, "GET / HTTP/1.0\r\n\r\n", 18),
	    PARSE_DONE);
	ck_assert_int_eq(
	    feed_bytes(&p, &limits, "GET / HTTP/1.0\r\n\r\n\n", 19),
	    PARSE_DONE);
	ck_assert_uint_eq(p.size, 18);
	start_parse(&p);
	ck_assert_int_eq(feed_bytes(&p, &limits, "(", 1), PARSE_REFUSED);
	ck_assert_int_eq(feed_bytes(&p, &limits, "(GET / HTTP/1.0\r\n\r\n", 19),
	    PARSE_REFUSED);
	ck_assert_uint_eq(p.status, 400);
}
END_TEST

static void
check_request_line(const char *bytes, const char *want)
{
	struct parse	p;
	struct str	s;

	start_parse(&p);
	feed_bytes(&p, &limits, bytes, strlen(bytes));
	s = parse_str(bytes, p.request_line);
	ck_assert_msg(str_same(s, str_of(want)), "%s gives %s",
	    bytes, unit_show(s.at, s.len));
}

/* The request line for the log, also of a request that is refused or
 * incomplete. */
START_TEST(logged_line)
{
	check_request_line("GET /a HTTP/1.0\r\n\r\n", "GET /a HTTP/1.0");
	check_request_line("\r\nGET /a HTTP/1.0\r\n\r\n", "GET /a HTTP/1.0");
	check_request_line("GET /a HTTP/1.1\r\n\r\n", "GET /a HTTP/1.1");
	check_request_line("GET /a HTTP/3.1\r\nHost: h\r\n\r\n",
	    "GET /a HTTP/3.1");
	check_request_line("GET /a\n", "GET /a");
	check_request_line("GET /a", "GET /a");
	check_request_line("GET /a\r", "GET /a");
	check_request_line("(GET", "(GET");
	check_request_line("(GET\r\nX: y\r\n", "(GET");
	check_request_line("\r", "");
	check_request_line("GET /" TEN TEN TEN TEN TEN TEN TEN,
	    "GET /" TEN TEN TEN TEN TEN "012345678");
}
END_TEST

/* A head of exactly the limit is valid; with one byte more it is refused at
 * once. */
START_TEST(head_limit)
{
	static const char	head[] = "GET / HTTP/1.0\r\nX: " TEN TEN
	    "\r\nY: " TEN TEN TEN "\r\n\r\n";
	const size_t		size = sizeof(head) - 1;
	struct parse_limits	l = limits;

	l.head = size;
	check_case(&l, head, size, "GET 0 /");
	for (l.head = 64; l.head < size; l.head++)
		check_case(&l, head, size, "431 head is too long");
	/* A limit of the head below that of a line: the first error counts. */
	l.head = 10;
	check_case(&l, head, size, "431 head is too long");
	l.line = 10;
	check_case(&l, head, size, LONG_LINE);
	for (l.head = 1; l.head < 4; l.head++)
		check_case(&l, "\r\nGET / HTTP/1.0\r\n\r\n", 20,
		    "431 head is too long");
	/* The head is full, and all its lines are complete. */
	l = limits;
	l.head = 16;
	check_case(&l, "GET / HTTP/1.0\r\n", 16, "431 head is too long");
	/* Bytes behind the limit are not read as a field. */
	l.head = 17;
	check_case(&l, "\r\nGET / HTTP/1.0\r\n", 18, "431 head is too long");
}
END_TEST

/* Whether a byte is accepted at a place, marked with @ in a template. */
static bool
is_accepted(const char *template, char byte)
{
	struct parse	p;
	char		head[200];
	size_t		len = strlen(template);

	memcpy(head, template, len);
	for (size_t i = 0; i < len; i++)
		if (head[i] == '@')
			head[i] = byte;
	start_parse(&p);
	return feed_bytes(&p, &limits, head, len) == PARSE_DONE;
}

/* The table of classes against RFC 9110 and our own rules. */
START_TEST(classes)
{
	static const char	token[] = "!#$%&'*+-.^_`|~0123456789"
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char	host[] = "-._~!$&'()*+,;=0123456789"
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (int c = 0; c < 256; c++) {
		bool	in_token = c != 0 && strchr(token, c) != NULL;
		bool	in_host = c != 0 && strchr(host, c) != NULL;
		bool	in_target = c > ' ' && c < 0x7f && c != '#';
		bool	in_value = (c >= ' ' && c != 0x7f) || c == '\t';
		char	b = (char)c;

		ck_assert_msg(
		    is_accepted("G@T / HTTP/1.0\r\n\r\n", b) == in_token,
		    "%#x in a method", c);
		ck_assert_msg(is_accepted("GET / HTTP/1.0\r\nx@x: y\r\n\r\n",
				  b) == (in_token || c == ':'),
		    "%#x in a name", c);
		ck_assert_msg(is_accepted("GET /@ HTTP/1.0\r\n\r\n", b) ==
		    in_target, "%#x in a target", c);
		ck_assert_msg(is_accepted("GET / HTTP/1.0\r\nx: y@y\r\n\r\n",
				  b) == in_value,
		    "%#x in a value", c);
		ck_assert_msg(parse_host_valid((struct str){ &b, 1 }) ==
		    in_host, "%#x in a host", c);
	}
}
END_TEST

/* Values are read eight bytes at a time: every byte in every place. */
START_TEST(values)
{
	char		head[100];
	struct parse	p;

	for (int c = 0; c < 256; c++) {
		bool	fine = (c >= ' ' && c != 0x7f) || c == '\t';

		for (size_t at = 1; at < 24; at++) {
			size_t	len = (size_t)snprintf(head, sizeof(head),
			    "GET / HTTP/1.0\r\nx:%.26s\r\n\r\n",
			    "abcdefgh~~~~~~~~!!!!!!!!zz");

			head[18 + at] = (char)c;
			start_parse(&p);
			ck_assert_msg((feed_bytes(&p, &limits, head, len) ==
			    PARSE_DONE) == fine, "%#x at %zu", c, at);
		}
	}
}
END_TEST

/* The switch knows every name of the list, in any case. */
START_TEST(every_field)
{
	struct parse	p;
	char		head[100];

	for (int f = 0; f < FIELD_COUNT; f++) {
		const char	*value = f == FIELD_CONTENT_LENGTH ? "1" :
		    "chunked";

		for (int upper = 0; upper < 2; upper++) {
			int	len = snprintf(head, sizeof(head),
			    "GET / HTTP/1.0\r\n%s:%s\r\n", field_names[f],
			    value);

			for (char *c = head + 16; upper && *c != ':'; c++)
				if (*c >= 'a' && *c <= 'z')
					*c -= 'a' - 'A';
			start_parse(&p);
			ck_assert_int_eq(
			    feed_bytes(&p, &limits, head, (size_t)len),
			    PARSE_MORE);
			ck_assert_msg(p.present == 1u << f, "%s", head);
			ck_assert(str_same(parse_field(&p, head, f),
			    str_of(value)));
		}
	}
}
END_TEST

/* All values of a field, with a bar behind each. */
static struct text
join_values(const struct parse *p, const char *head, enum parse_field f)
{
	struct text	t = { "", 0 };
	struct str	value;
	uint32_t	at = 0;

	while (parse_next(p, head, f, &at, &value)) {
		put_text(&t, "", value);
		put_text(&t, "|", STR(""));
	}
	return t;
}

START_TEST(several_lines)
{
	static const char	head[] = "\r\nGET / HTTP/1.1\r\nHost: h\r\n"
	    "If-Match: \"a\"\r\nX: If-Match: no\r\nif-match:\r\n"
	    "IF-MATCH:\t\"b\", \"c:d\" \r\nIf-Range: x\r\nRange:y\r\n\r\n"
	    "If-Match: \"behind\"\r\n";
	struct parse		p;
	struct parse_limits	l = { 64, 1000, 20 };

	start_parse(&p);
	ck_assert_int_eq(parse_feed(&p, &l, head, sizeof(head) - 1),
	    PARSE_DONE);
	ck_assert_str_eq(join_values(&p, head, FIELD_IF_MATCH).at,
	    "\"a\"||\"b\", \"c:d\"|");
	ck_assert_str_eq(join_values(&p, head, FIELD_HOST).at, "h|");
	ck_assert_str_eq(join_values(&p, head, FIELD_RANGE).at, "y|");
	ck_assert_str_eq(join_values(&p, head, FIELD_EXPECT).at, "");
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, request_line, 0, COUNT(request_lines));
	tcase_add_loop_test(t, target, 0, COUNT(targets));
	tcase_add_loop_test(t, field, 0, COUNT(fields));
	tcase_add_test(t, more);
	tcase_add_test(t, afterwards);
	tcase_add_test(t, logged_line);
	tcase_add_test(t, head_limit);
	tcase_add_test(t, classes);
	tcase_add_test(t, values);
	tcase_add_test(t, every_field);
	tcase_add_test(t, several_lines);
}
