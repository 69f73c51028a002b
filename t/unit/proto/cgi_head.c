/*
 * Unit test of proto/cgi_head.  Every case is fed whole, byte by byte, and in
 * two pieces cut at every position, and must come to the same result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"
#include "proto/cgi_head.h"
#include "t/unit/unit.h"

#define CASE(bytes, want)	{ bytes, sizeof(bytes) - 1, want }
#define BAD_LINE	"a line of its head has no name with a colon behind it"
#define BAD_BYTE	"its head has a control byte"
#define NO_FIELD	"its head has none of Content-Type, Location and Status"
#define BAD_STATUS	"its status is not a number of three digits"
#define BAD_RANGE	"its status is not one of 200 to 599"
#define BAD_LENGTH	"its Content-Length is not a number"
#define TWO_STATUSES	"it has two statuses"

/* want: "more"; or status, reason, type, location, length and the bytes behind
 * the head, with "local" for a local redirect, and what X-Sendfile and
 * X-Accel-Redirect name; or why it is refused. */
static const struct {
	const char	*bytes;
	size_t		 len;
	const char	*want;
} cases[] = {
	CASE("Content-Type: a/b\n\n", "0||a/b||-1 +0"),
	CASE("Content-Type: a/b\r\n\r\n", "0||a/b||-1 +0"),
	CASE("content-TYPE:a/b \t\r\n\nxyz", "0||a/b||-1 +3"),
	CASE("Status: 404 Not here\nX: y\n\n", "404|Not here|||-1 +0"),
	CASE("Status: 404\nContent-Length: 12\n\n\n", "404||||12 +1"),
	CASE("Status: 200 \n\n", "200||||-1 +0"),
	CASE("HTTP/1.1 201 Made\r\nX: y\r\n\r\n", "201|Made|||-1 +0"),
	CASE("HTTP/1.0 599\n\n", "599||||-1 +0"),
	CASE("Location: /a?b\n\n", "0|||/a?b|-1 +0 local"),
	CASE("Location: /\r\n\r\nx", "0|||/|-1 +1 local"),
	CASE("Location: //a/b\n\n", "0|||//a/b|-1 +0"),
	CASE("Location: /a\nX: y\n\n", "0|||/a|-1 +0"),
	CASE("Location: /a\nStatus: 302\n\n", "302|||/a|-1 +0"),
	CASE("HTTP/1.1 302 F\nLocation: /a\n\n", "302|F||/a|-1 +0"),
	CASE("Location: http://a/\n\n", "0|||http://a/|-1 +0"),
	CASE("Content-Type:\n\n", "0||||-1 +0"),
	CASE("Status: 200\nX:\n\n", "200||||-1 +0"),
	CASE("Status: 200\nX: \x80\xff\t!\n\n", "200||||-1 +0"),

	CASE("X-Sendfile: /a b\n\n", "0||||-1 +0 file /a b"),
	CASE("x-accel-redirect:/a?b\nX: y\n\n", "0||||-1 +0 path /a?b"),
	CASE("X-Accel-Redirect: /a\nX-Sendfile: b\nStatus: 404\n\n.",
	    "404||||-1 +1 file b path /a"),
	CASE("X-Sendfile:\nX-Accel-Redirect: \n\n", "0||||-1 +0"),
	CASE("Location: /a\nX-Sendfile: /b\n\n", "0|||/a|-1 +0 file /b"),

	CASE("", "more"),
	CASE("C", "more"),
	CASE("Content-Type: a/b\n", "more"),
	CASE("Content-Type: a/b\r\n\r", "more"),

	CASE("\n", NO_FIELD),
	CASE("X: y\n\n", NO_FIELD),
	CASE("Content-Length: 1\n\n", NO_FIELD),
	CASE("no colon\n", BAD_LINE),
	CASE(": x\n", BAD_LINE),
	CASE("X : y\n", BAD_LINE),
	CASE("Status: 200\n folded\n", BAD_LINE),
	CASE("\tX: y\n", BAD_LINE),
	CASE("X(: y\n", BAD_LINE),
	CASE("Status: 200\nHTTP/1.1 200 OK\n", BAD_LINE),
	CASE("HTTP/2 200 OK\n", BAD_LINE),
	CASE("X: a\rb\n", BAD_BYTE),
	CASE("X: a\r\r\n", BAD_BYTE),
	CASE("X: a\0b\n", BAD_BYTE),
	CASE("\r\r\n", BAD_BYTE),
	CASE("X: \x7f\n", BAD_BYTE),
	CASE("Status: 20\n", BAD_STATUS),
	CASE("Status: 2000\n", BAD_STATUS),
	CASE("Status: 2x0\n", BAD_STATUS),
	CASE("Status:\n", BAD_STATUS),
	CASE("HTTP/1.1 OK\n", BAD_STATUS),
	CASE("Status: 101\n", BAD_RANGE),
	CASE("Status: 199 x\n", BAD_RANGE),
	CASE("Status: 600\n", BAD_RANGE),
	CASE("Status: 200\nstatus: 200\n", TWO_STATUSES),
	CASE("HTTP/1.1 200 OK\nStatus: 200\n", TWO_STATUSES),
	CASE("Content-Type: a\nContent-Type: a\n",
	    "it has two fields Content-Type"),
	CASE("Location: /a\nLocation: /a\n", "it has two fields Location"),
	CASE("Location:\n", "its Location is empty"),
	CASE("Content-Length: 1\nContent-Length: 1\n",
	    "it has two fields Content-Length"),
	CASE("X-Sendfile: /a\nX-Sendfile: /a\n",
	    "it has two fields X-Sendfile"),
	CASE("X-Accel-Redirect:\nX-Accel-Redirect: /a\n",
	    "it has two fields X-Accel-Redirect"),
	CASE("Content-Length: -1\n", BAD_LENGTH),
	CASE("Content-Length: 1, 1\n", BAD_LENGTH),
	CASE("Content-Length: 99999999999999999999\n", BAD_LENGTH),
	CASE("Content-Length:\n", BAD_LENGTH),
	CASE("Transfer-Encoding: chunked\n",
	    "it has Transfer-Encoding, which is the server's"),
};

static void
show_result(const struct cgi_head *h, enum cgi_head_result result,
    const char *head, size_t len, char *text, size_t size)
{
	if (result == CGI_HEAD_MORE)
		snprintf(text, size, "more");
	else if (result == CGI_HEAD_REFUSED)
		snprintf(text, size, "%s", h->why);
	else
		snprintf(text, size, "%d|%.*s|%.*s|%.*s|%lld +%zu%s"
		    "%s%.*s%s%.*s",
		    h->status, (int)h->reason.len, head + h->reason.at,
		    (int)h->type.len, head + h->type.at,
		    (int)h->location.len, head + h->location.at,
		    (long long)h->length, len - h->size,
		    cgi_head_is_local(h, head) ? " local" : "",
		    h->file.len > 0 ? " file " : "", (int)h->file.len,
		    head + h->file.at, h->path.len > 0 ? " path " : "",
		    (int)h->path.len, head + h->path.at);
}

/* Feeds two pieces; each time at another address, without a byte behind. */
static void
check_cut(size_t i, size_t cut)
{
	struct cgi_head		 h = { 0 };
	char			*first = malloc(cut + 1);
	char			*all = malloc(cases[i].len + 1);
	char			 is[300];
	enum cgi_head_result	 result;

	memcpy(first, cases[i].bytes, cut);
	memcpy(all, cases[i].bytes, cases[i].len);
	result = cgi_head_feed(&h, cut > 0 ? first : NULL, cut);
	free(first);
	if (result == CGI_HEAD_MORE)
		result = cgi_head_feed(&h, all, cases[i].len);
	show_result(&h, result, all, cases[i].len, is, sizeof(is));
	ck_assert_msg(strcmp(is, cases[i].want) == 0, "%s cut at %zu: %s",
	    unit_show(cases[i].bytes, cases[i].len), cut, is);
	free(all);
}

START_TEST(test_cases)
{
	struct cgi_head		h = { 0 };
	enum cgi_head_result	result = CGI_HEAD_MORE;
	char			is[300];

	for (size_t cut = 0; cut <= cases[_i].len; cut++)
		check_cut((size_t)_i, cut);
	for (size_t n = 0; n <= cases[_i].len && result == CGI_HEAD_MORE; n++)
		result = cgi_head_feed(&h, cases[_i].bytes, n);
	show_result(&h, result, cases[_i].bytes, cases[_i].len, is,
	    sizeof(is));
	ck_assert_str_eq(is, cases[_i].want);
}
END_TEST

START_TEST(test_own)
{
	ck_assert(cgi_head_is_own(STR("x-sendfile")));
	ck_assert(cgi_head_is_own(STR("X-ACCEL-BUFFERING")));
	ck_assert(cgi_head_is_own(STR("Content-Length")));
	ck_assert(!cgi_head_is_own(STR("X-Sendfile2")));
	ck_assert(!cgi_head_is_own(STR("Content-Type")));
}
END_TEST

START_TEST(test_limits)
{
	const char		 field[] = "X: y\n", status[] = "Status: 200\n\n";
	struct cgi_head		 h = { 0 };
	struct buf		 b = { 0 };

	for (int i = 1; i < CGI_HEAD_FIELDS_MAX; i++)
		buf_adds(&b, field);
	buf_adds(&b, status);
	ck_assert_int_eq(cgi_head_feed(&h, b.at, b.len), CGI_HEAD_DONE);
	b.len -= strlen(status);
	buf_adds(&b, field);
	buf_adds(&b, status);
	h = (struct cgi_head){ 0 };
	ck_assert_int_eq(cgi_head_feed(&h, b.at, b.len), CGI_HEAD_REFUSED);

	for (int over = 0; over < 2; over++) {
		b.len = 0;
		buf_adds(&b, "X: ");
		while (b.len + strlen(status) + 1 < CGI_HEAD_MAX +
		    (size_t)over)
			buf_addc(&b, 'a');
		buf_addf(&b, "\n%s", status);
		h = (struct cgi_head){ 0 };
		ck_assert_int_eq(cgi_head_feed(&h, b.at, b.len), over ?
		    CGI_HEAD_REFUSED : CGI_HEAD_DONE);
		h = (struct cgi_head){ 0 };
		ck_assert_int_eq(cgi_head_feed(&h, b.at, b.len - 1),
		    CGI_HEAD_MORE);
	}
	buf_free(&b);
}
END_TEST

START_TEST(test_lines)
{
	const char	 head[] = "HTTP/1.1 200 OK\r\nA: 1\nb:\t2 \r\n\nC: 3\n";
	struct cgi_head	 h = { 0 };
	struct str	 name, value;
	uint32_t	 at = 0;

	ck_assert_int_eq(cgi_head_feed(&h, head, strlen(head)), CGI_HEAD_DONE);
	ck_assert(cgi_head_next(&h, head, &at, &name, &value));
	ck_assert(str_same(name, STR("A")) && str_same(value, STR("1")));
	ck_assert(cgi_head_next(&h, head, &at, &name, &value));
	ck_assert(str_same(name, STR("b")) && str_same(value, STR("2")));
	ck_assert(!cgi_head_next(&h, head, &at, &name, &value));
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, test_cases, 0,
	    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(t, test_limits);
	tcase_add_test(t, test_own);
	tcase_add_test(t, test_lines);
}
