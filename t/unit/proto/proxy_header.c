/* Unit test of proto/proxy_header: whole headers, each part of them, and wrong
 * ones. */
#include <sys/socket.h>

#include <arpa/inet.h>

#include <string.h>

#include "lib/str.h"
#include "proto/proxy_header.h"
#include "t/unit/unit.h"

#define SIGNATURE	"\r\n\r\n\0\r\nQUIT\n"
#define V4		"\xc0\x00\x02\x01\x7f\x00\x00\x01\x10\x00\x00\x50"
#define NET6		"\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0"
#define TEN		"0123456789"
#define FIFTY		TEN TEN TEN TEN TEN
#define NAMES		FIFTY FIFTY FIFTY FIFTY TEN "012345"

/* client NULL: wrong, from byte `size` on; "": the proxy itself. */
static const struct {
	struct str	 header;
	const char	*client;
	size_t		 size;
} cases[] = {
	{ STR("PROXY TCP4 192.0.2.1 127.0.0.1 4096 80\r\n"), "192.0.2.1", 0 },
	{ STR("PROXY TCP6 2001:db8::1 ::1 65535 0\r\n"), "2001:db8::1", 0 },
	{ STR("PROXY UNKNOWN\r\n"), "", 0 },
	{ STR("PROXY UNKNOWN 1 2 3 and more\r\n"), "", 0 },
	{ STR(SIGNATURE "\x21\x11\0\x0c" V4), "192.0.2.1", 0 },
	{ STR(SIGNATURE "\x21\x11\0\x10" V4 "\x04\0\x01x"), "192.0.2.1", 0 },
	{ STR(SIGNATURE "\x21\x21\0\x24" NET6 "\x07" NET6 "\x01" "\x10\0\0\x50"),
	    "2001:db8::7", 0 },
	{ STR(SIGNATURE "\x21\x31\0\xd8" NAMES), "unix:", 0 },
	{ STR(SIGNATURE "\x21\0\0\0"), "", 0 },
	{ STR(SIGNATURE "\x20\0\0\0"), "", 0 },
	{ STR(SIGNATURE "\x20\x11\0\x0c" V4), "", 0 },
	{ STR(SIGNATURE "\x20\x7f\0\x01x"), "", 0 },
	/* No header. */
	{ STR("GET / HTTP/1.1\r\n"), NULL, 1 },
	{ STR("PROXI / HTTP/1.1\r\n"), NULL, 5 },
	{ STR("PROPFIND / HTTP/1.1\r\n"), NULL, 4 },
	{ STR("\r\n\r\nGET"), NULL, 5 }, { STR("\x16\x03\x01"), NULL, 1 },
	/* Version 1. */
	{ STR("PROXY TCP4 192.0.2.1 127.0.0.1 4096 80\n"), NULL, 39 },
	{ STR("PROXY TCP4 192.0.2.1 127.0.0.1 4096\r\n"), NULL, 37 },
	{ STR("PROXY TCP4 192.0.2.1 127.0.0.1 4096 80 \r\n"), NULL, 41 },
	{ STR("PROXY TCP4  192.0.2.1 127.0.0.1 4096 80\r\n"), NULL, 41 },
	{ STR("PROXY TCP4 192.0.2.1 127.0.0.1 04096 80\r\n"), NULL, 41 },
	{ STR("PROXY TCP4 192.0.2.1 127.0.0.1 4096 65536\r\n"), NULL, 43 },
	{ STR("PROXY TCP4 2001:db8::1 ::1 4096 80\r\n"), NULL, 36 },
	{ STR("PROXY TCP4 192.0.2.1\0 127.0.0.1 4096 80\r\n"), NULL, 41 },
	{ STR("PROXY UDP4 192.0.2.1 127.0.0.1 4096 80\r\n"), NULL, 40 },
	{ STR("PROXY \r\n"), NULL, 8 }, { STR("PROXY \n"), NULL, 7 },
	{ STR("PROXY UNKNOWN " FIFTY FIFTY "\r\n\r\n"), NULL, 107 },
	/* Version 2. */
	{ STR(SIGNATURE "\x11\x11\0\x0c" V4), NULL, 13 },
	{ STR(SIGNATURE "\x22\x11\0\x0c" V4), NULL, 13 },
	{ STR(SIGNATURE "\x21\x12\0\x0c" V4), NULL, 28 },
	{ STR(SIGNATURE "\x21\x41\0\x0c" V4), NULL, 28 },
	{ STR(SIGNATURE "\x21\x11\0\x0b" V4), NULL, 27 },
	{ STR(SIGNATURE "\x21\x21\0\x0c" V4), NULL, 28 },
	{ STR(SIGNATURE "\x21\x11\x10\0" V4), NULL, 16 },
};

static const char *
client_text(const struct proxy_header *h)
{
	static char	text[INET6_ADDRSTRLEN];

	return h->family == 0 ? "" : h->family == AF_UNIX ? "unix:" :
	    inet_ntop(h->family, h->addr, text, sizeof(text));
}

/* At each byte it is known whether more can make it right. */
START_TEST(headers)
{
	const struct str	*s = &cases[_i].header;
	bool			 good = cases[_i].client != NULL;
	size_t			 known = good ? s->len : cases[_i].size;
	struct proxy_header	 h;

	for (size_t len = 0; len < s->len; len++)
		ck_assert_msg(proxy_header_read(s->at, len, &h) == (len <
		    known ? PROXY_HEADER_MORE : PROXY_HEADER_WRONG),
		    "%s, %zu bytes", s->at, len);
	ck_assert_msg(proxy_header_read(s->at, s->len, &h) ==
	    (good ? PROXY_HEADER_DONE : PROXY_HEADER_WRONG), "%s", s->at);
	if (good) {
		ck_assert_uint_eq(h.size, s->len);
		ck_assert_str_eq(client_text(&h), cases[_i].client);
	} else
		ck_assert_ptr_nonnull(h.why);
}
END_TEST

/* What follows a header is not looked at. */
START_TEST(followed)
{
	static const char	bytes[] = SIGNATURE "\x21\x11\0\x0c" V4 "GET /";
	struct proxy_header	h;

	ck_assert(proxy_header_read(bytes, sizeof(bytes) - 1, &h) ==
	    PROXY_HEADER_DONE);
	ck_assert_uint_eq(h.size, 28);
}
END_TEST

void
unit_tests(TCase *t)
{
	tcase_add_loop_test(t, headers, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(t, followed);
}
